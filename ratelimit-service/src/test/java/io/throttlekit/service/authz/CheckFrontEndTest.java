package io.throttlekit.service.authz;

import static io.throttlekit.service.authz.CheckFixture.asking;
import static io.throttlekit.service.authz.CheckFixture.header;
import static io.throttlekit.service.authz.CheckFixture.onRoute;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.config.core.v3.HeaderValueOption;
import io.envoyproxy.envoy.service.auth.v3.CheckResponse;
import io.envoyproxy.envoy.service.auth.v3.CheckResponse.HttpResponseCase;
import io.throttlekit.service.admission.NoPoliciesException;
import io.throttlekit.service.concurrency.PermitEnd;
import io.throttlekit.service.concurrency.StreamReport;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.service.config.ResponseConfig.DeniedBody;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.rls.InvalidRequestException;
import io.throttlekit.service.server.Setup;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** How Envoy treats each kind of answer, and the answers chosen for that. */
class CheckFrontEndTest {
  private static final String POLICY =
      """
      domain: d
      descriptors:
        - key: user
          rate_limit: {requests_per_unit: 1, unit: minute, name: per user}
        - key: up
          concurrency: {min: 1, max: 1}
        - key: own
          rate_limit: {requests_per_unit: 0, unit: minute}
          denied:
            status: 402
            headers: {Retry-After: "7", x-why: pay}
            body: pay first
            metadata: {lease: forged, plan: free}
        - key: busy
          concurrency: {min: 1, max: 1}
          denied: {status: 429}
        - key: silent
          rate_limit: {requests_per_unit: 0, unit: minute}
          denied: {body: ""}
        - key: quota
          quota_mode: true
          rate_limit: {requests_per_unit: 0, unit: minute}
          denied: {status: 507}
      """;
  private static final ResponseConfig WITH_METADATA =
      new ResponseConfig(
          ConfigLoader.defaults().response().headers(),
          true,
          true,
          new DeniedBody("text/html", "<p>too many</p>"),
          true);

  private final CheckFixture authorizing =
      CheckFixture.by(
          POLICY,
          header("up"),
          header("user"),
          header("own"),
          header("busy"),
          header("silent"),
          header("quota"));
  private final CheckFixture withMetadata =
      new CheckFixture(
          POLICY,
          new ExtAuthzConfig(
              "d",
              List.of(
                  header("user"), header("up"), header("own"), header("silent"), header("quota")),
              false),
          WITH_METADATA,
          Setup.NATIVE);

  @Test
  void anAdmissionHasAnOkStatusAndResponse() {
    CheckResponse admitted = authorizing.check("user", "anna");
    assertThat(admitted.hasStatus()).as("Envoy admits without, but not by us").isTrue();
    assertThat(admitted.getStatus().getCode()).isZero();
    assertThat(admitted.getHttpResponseCase()).isEqualTo(HttpResponseCase.OK_RESPONSE);
    assertThat(admitted.hasDynamicMetadata()).isFalse();
  }

  @Test
  void anAdmissionReportsLimitsToClientsAsTheRateLimitFilterDoes() {
    CheckResponse admitted = withMetadata.check("user", "anna");
    assertThat(headers(admitted.getOkResponse().getResponseHeadersToAddList()))
        .isEqualTo("RateLimit: \"per user\";r=0;t=60 | RateLimit-Policy: \"per user\";q=1;w=60");
    assertThat(admitted.getDynamicMetadata().getFieldsOrThrow("domain").getStringValue())
        .isEqualTo("d");
    assertThat(admitted.getDynamicMetadata().getFieldsOrThrow("descriptors").toString())
        .contains("user=anna");
  }

  @Test
  void anAdmissionBelowALimitNamesItsLease() {
    CheckResponse admitted = authorizing.check("up", "payments");
    assertThat(authorizing.gate.permits().size()).isEqualTo(1);
    String lease = lease(admitted);
    authorizing.gate.permits().streamDone(lease, StreamReport.NONE);
    assertThat(authorizing.gate.permits().size()).isZero();
    assertThat(lease(authorizing.check("up", "payments"))).isNotEqualTo(lease);
  }

  @Test
  void aRequestOverARateLimitGets429AndRetryAfter() {
    assertThat(authorizing.check("user", "anna").getStatus().getCode()).isZero();
    CheckResponse refused = authorizing.check("user", "anna");
    assertThat(refused.getStatus().getCode()).isEqualTo(8);
    assertThat(refused.getHttpResponseCase()).isEqualTo(HttpResponseCase.DENIED_RESPONSE);
    assertThat(status(refused)).isEqualTo(429);
    assertThat(deniedHeaders(refused)).isEqualTo("Retry-After: 60");
    assertThat(refused.getDeniedResponse().getBody()).isEmpty();
  }

  @Test
  void aRequestOverAConcurrencyLimitGets503AndNoLease() {
    assertThat(withMetadata.check("up", "payments").getStatus().getCode()).isZero();
    CheckResponse refused = withMetadata.check("up", "payments");
    assertThat(refused.getStatus().getCode()).isEqualTo(14);
    assertThat(status(refused)).isEqualTo(503);
    assertThat(deniedHeaders(refused)).contains("Retry-After: 2");
    assertThat(refused.getDynamicMetadata().getFieldsMap())
        .containsKey("decidedBy")
        .doesNotContainKey("lease");
  }

  @Test
  void aRequestRefusedByAnotherRuleHoldsNoLease() {
    CheckResponse refused = withMetadata.check("up", "payments", "own", "x");
    assertThat(refused.getStatus().getCode()).isNotZero();
    assertThat(refused.getDynamicMetadata().getFieldsMap()).doesNotContainKey("lease");
    assertThat(withMetadata.gated.ends).containsExactly(PermitEnd.REFUSED);
    assertThat(withMetadata.gate.permits().size()).isZero();
  }

  @Test
  void aRuleChoosesStatusHeadersBodyAndMetadataOfItsRefusals() {
    CheckResponse refused = withMetadata.check("own", "x");
    assertThat(refused.getStatus().getCode()).isEqualTo(8);
    assertThat(status(refused)).isEqualTo(402);
    assertThat(deniedHeaders(refused))
        .contains("content-type: text/html | retry-after: 7 | x-why: pay")
        .doesNotContain("Retry-After");
    assertThat(refused.getDeniedResponse().getBody()).isEqualTo("pay first");
    assertThat(refused.getDynamicMetadata().getFieldsMap()).doesNotContainKey("lease");
    assertThat(
            refused
                .getDynamicMetadata()
                .getFieldsOrThrow("metadata")
                .getStructValue()
                .getFieldsOrThrow("plan")
                .getStringValue())
        .isEqualTo("free");
  }

  @Test
  void aRuleWithoutABodyGetsTheServices() {
    assertThat(withMetadata.check("user", "a").getStatus().getCode()).isZero();
    CheckResponse refused = withMetadata.check("user", "a");
    assertThat(refused.getDeniedResponse().getBody()).isEqualTo("<p>too many</p>");
    assertThat(deniedHeaders(refused)).contains("content-type: text/html");
    CheckResponse silent = withMetadata.check("silent", "a");
    assertThat(silent.getDeniedResponse().getBody()).isEmpty();
    assertThat(deniedHeaders(silent)).doesNotContain("content-type");
  }

  @Test
  void aConcurrencyLimitCanDenyWith429() {
    assertThat(authorizing.check("busy", "b").getStatus().getCode()).isZero();
    assertThat(status(authorizing.check("busy", "b"))).isEqualTo(429);
  }

  @Test
  void ofSeveralRefusalsTheFirstThatRefusesByItselfIsReported() {
    assertThat(status(withMetadata.check("own", "x", "silent", "x"))).isEqualTo(402);
    assertThat(status(withMetadata.check("quota", "x", "silent", "x"))).isEqualTo(429);
    assertThat(status(withMetadata.check("quota", "x"))).isEqualTo(507);
  }

  @Test
  void whereTheServiceIsInShadowModeNoRequestIsRefused() {
    CheckFixture shadow =
        new CheckFixture(
            POLICY,
            new ExtAuthzConfig("d", List.of(header("own")), false),
            WITH_METADATA,
            new CompatibilityConfig(false, true, false));
    CheckResponse admitted = shadow.check("own", "x");
    assertThat(admitted.getStatus().getCode()).isZero();
    assertThat(admitted.getHttpResponseCase()).isEqualTo(HttpResponseCase.OK_RESPONSE);
  }

  @Test
  void aRequestWithoutDescriptorsIsRefusedUnlessConfigured() {
    CheckResponse refused = authorizing.check("other", "x");
    assertThat(refused.getStatus().getCode()).isEqualTo(7);
    assertThat(status(refused)).isEqualTo(403);
    assertThat(refused.getDeniedResponse().getHeadersList()).isEmpty();

    CheckFixture admitting =
        new CheckFixture(
            POLICY,
            new ExtAuthzConfig("d", List.of(header("user")), true),
            WITH_METADATA,
            Setup.NATIVE);
    CheckResponse admitted = admitting.check("other", "x");
    assertThat(admitted.hasStatus()).isTrue();
    assertThat(admitted.getStatus().getCode()).isZero();
    assertThat(admitted.getHttpResponseCase()).isEqualTo(HttpResponseCase.OK_RESPONSE);
    assertThat(admitting.check("user", "x").getStatus().getCode()).isZero();
    assertThat(status(admitting.check("user", "x"))).isEqualTo(429);
  }

  @Test
  void aDescriptorThatNoRuleMatchesLimitsNothing() {
    CheckFixture unlimited = CheckFixture.by(POLICY, header("nope"));
    assertThat(unlimited.check("nope", "x").getStatus().getCode()).isZero();
  }

  @Test
  void anUnknownDomainIsNotAdmitted() {
    assertThatThrownBy(() -> authorizing.check(onRoute(Map.of("domain", "nope"))))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessage("no policy has the domain of the request");
    assertThat(StatsLines.of(authorizing.metrics).toString()).contains("domain_not_found");
  }

  @Test
  void theDomainIsRequiredAndMayComeFromTheRoute() {
    CheckFixture routed =
        new CheckFixture(
            POLICY,
            new ExtAuthzConfig("", List.of(header("user")), true),
            ConfigLoader.defaults().response(),
            Setup.NATIVE);
    assertThatThrownBy(() -> routed.check("user", "a"))
        .isInstanceOf(InvalidRequestException.class)
        .hasMessageContaining("ext_authz.domain");
    assertThatThrownBy(() -> routed.check(onRoute(Map.of("domain", ""))))
        .isInstanceOf(InvalidRequestException.class);
    assertThat(routed.check(onRoute(Map.of("domain", "d"))).getStatus().getCode()).isZero();
  }

  @Test
  void failsWithoutPolicies() {
    CheckFixture none =
        new CheckFixture(
            null,
            new ExtAuthzConfig("d", List.of(header("user")), false),
            ConfigLoader.defaults().response(),
            Setup.NATIVE);
    assertThatThrownBy(() -> none.check("user", "a")).isInstanceOf(NoPoliciesException.class);
  }

  @Test
  void malformedBytesAreInvalid() {
    byte[] whole = asking("user", "anna").toByteArray();
    byte[] cut = Arrays.copyOf(whole, whole.length - 1);
    for (byte[] bytes : List.of(cut, new byte[] {1}, new byte[] {10, 5})) {
      assertThatThrownBy(() -> authorizing.check(bytes))
          .isInstanceOf(InvalidRequestException.class)
          .hasMessage("the request is not a valid protobuf message");
    }
  }

  @Test
  void anEmptyRequestHasNoDescriptors() {
    assertThat(status(authorizing.check(new byte[0]))).isEqualTo(403);
  }

  private static int status(CheckResponse response) {
    assertThat(response.hasStatus()).isTrue();
    assertThat(response.getStatus().getCode()).isNotZero();
    return response.getDeniedResponse().getStatus().getCodeValue();
  }

  private static String lease(CheckResponse response) {
    return Objects.requireNonNull(response.getDynamicMetadata().getFieldsMap().get("lease"))
        .getStringValue();
  }

  private static String deniedHeaders(CheckResponse response) {
    return headers(response.getDeniedResponse().getHeadersList());
  }

  private static String headers(List<HeaderValueOption> headers) {
    return String.join(
        " | ",
        headers.stream()
            .map(option -> option.getHeader().getKey() + ": " + option.getHeader().getValue())
            .toList());
  }
}
