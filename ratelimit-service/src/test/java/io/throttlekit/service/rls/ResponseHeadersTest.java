package io.throttlekit.service.rls;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.hits;
import static io.throttlekit.service.server.TestRequests.limit;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.type.v3.RateLimitUnit;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.service.config.ResponseConfig.DeniedBody;
import io.throttlekit.service.config.ResponseConfig.RateLimitHeaders;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.Setup;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class ResponseHeadersTest {
  private static final DeniedBody NO_BODY = ConfigLoader.defaults().response().deniedBody();
  private static final RateLimitHeaders OFF = ConfigLoader.defaults().response().headers();
  private static final ResponseConfig CLASSIC =
      new ResponseConfig(
          new RateLimitHeaders(true, "RateLimit-Limit", "x-left", "RateLimit-Reset"),
          false,
          false,
          NO_BODY,
          false);
  private static final ResponseConfig RETRY = new ResponseConfig(OFF, true, false, NO_BODY, false);
  private static final ResponseConfig STRUCTURED =
      new ResponseConfig(OFF, false, true, NO_BODY, false);

  @Test
  void theThreeHeadersComeInOrderUnderTheirConfiguredNames() {
    assertThat(headers(CLASSIC, x(entries("min", "a"))))
        .isEqualTo("RateLimit-Limit: 10 | x-left: 9 | RateLimit-Reset: 58");
  }

  @Test
  void headersReportTheFirstDescriptorWithTheLeastRemaining() {
    assertThat(headers(CLASSIC, x(entries("ten", "a"), entries("wk", "a"), entries("nope", "a"))))
        .startsWith("RateLimit-Limit: 7 | x-left: 6");
    assertThat(headers(CLASSIC, x(entries("hr", "a"), entries("min", "a"))))
        .endsWith("x-left: 9 | RateLimit-Reset: 1378");
  }

  @Test
  void ofDescriptorsThatRefuseTheLastIsReported() {
    assertThat(
            headers(
                CLASSIC,
                x(entries("zero", "a"), hits(9, entries("five", "a")), entries("one", "a"))))
        .startsWith("RateLimit-Limit: 5 |");
  }

  @Test
  void aQuotaThatIsUsedUpIsReportedOnlyForItsRemaining() {
    assertThat(headers(CLASSIC, x(entries("zero", "a"), hits(9, entries("q1", "a")))))
        .startsWith("RateLimit-Limit: 0 |");
  }

  @Test
  void withoutALimitNoHeadersAreSent() {
    assertThat(headers(CLASSIC, x(entries("nope", "a"), entries("unl", "a")))).isEmpty();
    assertThat(headers(STRUCTURED, x(entries("nope", "a"), entries("unl", "a")))).isEmpty();
  }

  @Test
  void retryAfterIsRoundedUp() {
    Setup setup = new Setup(Book.X, Setup.NATIVE, RETRY);
    RateLimitRequest request = hits(10, x(entries("min", "a")));
    assertThat(headers(AnswerText.answer(setup.frontEnd(), request))).isEmpty();
    setup.time().set(Setup.NOW + 500);
    assertThat(headers(AnswerText.answer(setup.frontEnd(), request))).isEqualTo("Retry-After: 58");
    setup.time().set(Setup.NOW + 57_999);
    assertThat(headers(AnswerText.answer(setup.frontEnd(), request))).isEqualTo("Retry-After: 1");
  }

  @Test
  void aRefusalThatNeverEndsHasNoRetryAfter() {
    assertThat(headers(RETRY, x(entries("zero", "a")))).isEmpty();
    assertThat(headers(RETRY, hits(11, x(entries("min", "a"))))).isEmpty();
  }

  @Test
  void retryAfterIsThatOfTheSlowestRefusalAndTheFastestQuota() {
    Setup setup = new Setup(Book.X, Setup.NATIVE, RETRY);
    var service = setup.frontEnd();
    AnswerText.answer(service, hits(10, x(entries("min", "a"), entries("hr", "a"))));
    assertThat(headers(AnswerText.answer(service, x(entries("min", "a"), entries("hr", "a")))))
        .isEqualTo("Retry-After: 1378");
    Setup quotas = new Setup(Book.X, new CompatibilityConfig(false, false, true), RETRY);
    AnswerText.answer(quotas.frontEnd(), hits(10, x(entries("min", "a"), entries("hr", "a"))));
    assertThat(
            headers(
                AnswerText.answer(quotas.frontEnd(), x(entries("min", "a"), entries("hr", "a")))))
        .isEqualTo("Retry-After: 58");
  }

  @Test
  void anAdmittingQuotaLeavesRetryAfterToTheRefusingRules() {
    String policies =
        """
        domain: x
        descriptors:
          - {key: min, rate_limit: {unit: minute, requests_per_unit: 1}}
          - {key: quota, quota_mode: true, rate_limit: {unit: day, requests_per_unit: 1}}
          - {key: sure, quota_mode: true, shadow_mode: true,
             rate_limit: {unit: day, requests_per_unit: 1}}
        """;
    Setup setup = new Setup(policies, Setup.NATIVE, RETRY);
    var both = x(entries("min", "a"), entries("quota", "a"));
    var withSure = x(entries("min", "a"), entries("quota", "a"), entries("sure", "a"));
    AnswerText.answer(setup.frontEnd(), both);
    assertThat(headers(AnswerText.answer(setup.frontEnd(), both))).isEqualTo("Retry-After: 84178");
    assertThat(headers(AnswerText.answer(setup.frontEnd(), withSure))).isEqualTo("Retry-After: 58");
  }

  @Test
  void structuredHeadersListEveryLimitWithItsPolicy() {
    assertThat(
            headers(STRUCTURED, x(entries("ten", "a"), entries("nope", "a"), entries("odd", "a"))))
        .isEqualTo(
            "RateLimit: \"ten-limit\";r=9;t=84178, \"odd\";r=9;t=8"
                + " | RateLimit-Policy: \"ten-limit\";q=10;w=86400, \"odd\";q=10;w=10");
  }

  @Test
  void structuredHeadersNameEachPolicyOnceWithItsLeastRemaining() {
    var request = x(entries("odd", "a"), hits(3, entries("odd", "b")), entries("odd", "c"));
    assertThat(headers(STRUCTURED, request))
        .isEqualTo("RateLimit: \"odd\";r=7;t=8 | RateLimit-Policy: \"odd\";q=10;w=10");
  }

  @Test
  void structuredHeadersHideValuesOfARequestWithAnOverride() {
    var secret = limit(10, RateLimitUnit.DAY_VALUE, entries("user", "secret"));
    assertThat(headers(STRUCTURED, x(secret)))
        .isEqualTo(
            "RateLimit: \"override\";r=9;t=84178 | RateLimit-Policy: \"override\";q=10;w=86400");
  }

  @Test
  void namesOfRulesCannotInjectHeaders() {
    Setup setup =
        new Setup(
            """
            domain: x
            descriptors:
              - key: evil
                rate_limit: {unit: day, requests_per_unit: 1, name: "a\\"\\\\\\r\\nSet-Cookie: é;q=9"}
            """,
            Setup.NATIVE,
            STRUCTURED);
    String value =
        AnswerText.answer(setup.frontEnd(), x(entries("evil", "1")))
            .getResponseHeadersToAdd(0)
            .getValue();
    assertThat(value).isEqualTo("\"a\\\"\\\\??Set-Cookie: ?;q=9\";r=0;t=84178");
  }

  @Test
  void aRefusalHasTheConfiguredBodyWithItsType() {
    DeniedBody body = new DeniedBody("application/json", "{\"error\":\"zu viel ü\"}");
    ResponseConfig config = new ResponseConfig(OFF, false, false, body, false);
    RateLimitFrontEnd service = new Setup(Book.X, Setup.NATIVE, config).frontEnd();
    RateLimitResponse refused = AnswerText.answer(service, x(entries("zero", "a")));
    assertThat(refused.getRawBody().toStringUtf8()).isEqualTo("{\"error\":\"zu viel ü\"}");
    assertThat(headers(refused)).isEqualTo("content-type: application/json");
    RateLimitResponse admitted = AnswerText.answer(service, x(entries("ten", "a")));
    assertThat(admitted.getRawBody().isEmpty()).isTrue();
    assertThat(headers(admitted)).isEmpty();
  }

  private static String headers(ResponseConfig config, RateLimitRequest request) {
    return headers(AnswerText.answer(new Setup(Book.X, Setup.NATIVE, config).frontEnd(), request));
  }

  private static String headers(RateLimitResponse response) {
    return response.getResponseHeadersToAddList().stream()
        .map(header -> header.getKey() + ": " + header.getValue())
        .collect(Collectors.joining(" | "));
  }
}
