package io.throttlekit.service.rls;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.config.core.v3.HeaderValue;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.service.config.ResponseConfig.DeniedBody;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.server.Setup;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Denials of rules over the rate limit filter, which supports all fields except the status. */
class DenialsTest {
  private static final String POLICY =
      """
      domain: x
      descriptors:
        - key: own
          rate_limit: {requests_per_unit: 0, unit: minute}
          denied:
            headers: {content-type: application/json, ratelimit: "no"}
            body: "{}"
            metadata: {plan: free}
        - key: none
          rate_limit: {requests_per_unit: 0, unit: minute}
          denied: {body: ""}
        - key: plain
          rate_limit: {requests_per_unit: 0, unit: minute}
        - key: one
          rate_limit: {requests_per_unit: 1, unit: minute}
          denied: {body: "never while it admits"}
      """;
  private static final ResponseConfig RESPONSE =
      new ResponseConfig(
          ConfigLoader.defaults().response().headers(),
          false,
          true,
          new DeniedBody("text/html", "<p/>"),
          true);

  private final RateLimitFrontEnd frontEnd = new Setup(POLICY, Setup.NATIVE, RESPONSE).frontEnd();

  @Test
  void headersAndBodyOfARuleOverrideTheServices() {
    RateLimitResponse refused = AnswerText.answer(frontEnd, x(entries("own", "a")));
    assertThat(refused.getRawBody().toStringUtf8()).isEqualTo("{}");
    assertThat(headers(refused))
        .containsExactly(
            "RateLimit-Policy: \"own\";q=0;w=60",
            "content-type: application/json",
            "ratelimit: no");
  }

  @Test
  void aRuleCanOmitTheBodyAndDefaultsToTheServices() {
    RateLimitResponse none = AnswerText.answer(frontEnd, x(entries("none", "a")));
    assertThat(none.getRawBody().isEmpty()).isTrue();
    assertThat(headers(none)).noneMatch(header -> header.startsWith("content-type"));
    RateLimitResponse plain = AnswerText.answer(frontEnd, x(entries("plain", "a")));
    assertThat(plain.getRawBody().toStringUtf8()).isEqualTo("<p/>");
    assertThat(headers(plain)).contains("content-type: text/html");
  }

  @Test
  void onlyRefusedRequestsReceiveTheDenial() {
    RateLimitResponse admitted = AnswerText.answer(frontEnd, x(entries("one", "a")));
    assertThat(admitted.getRawBody().isEmpty()).isTrue();
    assertThat(admitted.getDynamicMetadata().getFieldsMap()).doesNotContainKey("metadata");
    RateLimitResponse refused = AnswerText.answer(frontEnd, x(entries("one", "a")));
    assertThat(refused.getRawBody().toStringUtf8()).isEqualTo("never while it admits");
  }

  @Test
  void theMetadataOfARefusalReplacesThatOfAnAdmission() {
    RateLimitResponse refused = AnswerText.answer(frontEnd, x(entries("own", "a")));
    assertThat(
            refused.getDynamicMetadata().getFieldsOrThrow("metadata").getStructValue().toString())
        .contains("plan", "free");
  }

  private static List<String> headers(RateLimitResponse response) {
    return response.getResponseHeadersToAddList().stream().map(DenialsTest::text).toList();
  }

  private static String text(HeaderValue header) {
    return header.getKey() + ": " + header.getValue();
  }
}
