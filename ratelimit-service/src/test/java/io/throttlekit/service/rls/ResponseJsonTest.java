package io.throttlekit.service.rls;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.limit;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.util.JsonFormat;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.throttlekit.service.admission.NeverLater;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.service.config.ResponseConfig.DeniedBody;
import io.throttlekit.service.config.ResponseConfig.RateLimitHeaders;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.Setup;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

class ResponseJsonTest {
  private static final String RICH =
      """
      domain: x
      descriptors:
        - key: own
          rate_limit:
            name: "<own> & é"
            unit: day
            requests_per_unit: 1
            metadata: {a: 1, b: [true, 2.5, "<x>"], c: {d: {}}}
        - {key: up, concurrency: {min: 1, max: 1}}
        - {key: every, rate_limit: {every: 10s, requests_per_unit: 3}}
        - {key: unl, rate_limit: {unlimited: true}}
      """;
  private static final ResponseConfig EVERYTHING =
      new ResponseConfig(
          new RateLimitHeaders(true, "A-Limit", "A-Remaining", "A-Reset"),
          true,
          true,
          new DeniedBody("text/plain", "no ünits"),
          true);
  private static final List<RateLimitRequest> REQUESTS =
      List.of(
          x(entries("own", "a=<b>")),
          x(entries("up", "1")),
          x(entries("every", "1"), entries("unl", "1"), entries("nothing", "")),
          x(limit(0, 3, entries("any", "a"))),
          x(limit(-1, 4, entries("any", "b"))));

  @Test
  void equalsTheOutputOfProtobufsPrinter() throws Exception {
    for (ResponseConfig config : List.of(Setup.BARE, EVERYTHING)) {
      RateLimitFrontEnd frontEnd = new Setup(RICH, Setup.NATIVE, config).frontEnd();
      for (RateLimitRequest message : REQUESTS) {
        for (int times = 0; times < 3; times++) {
          var request = frontEnd.read(message.toByteArray());
          var answer = Objects.requireNonNull(frontEnd.decide(request, new NeverLater()));
          RateLimitResponse response = RateLimitResponse.parseFrom(frontEnd.write(request, answer));
          assertThat(ResponseJson.of(answer, frontEnd.extras().of(request, answer)))
              .isEqualTo(JsonFormat.printer().omittingInsignificantWhitespace().print(response));
        }
      }
    }
  }

  @Test
  void namesWeeks() throws Exception {
    RateLimitFrontEnd frontEnd = new Setup(Book.X, Setup.NATIVE, Setup.BARE).frontEnd();
    var request = frontEnd.read(x(limit(5, 7, entries("any", "c"))).toByteArray());
    var answer = Objects.requireNonNull(frontEnd.decide(request, new NeverLater()));
    assertThat(ResponseJson.of(answer, ResponseExtras.NONE))
        .contains("\"currentLimit\":{\"requestsPerUnit\":5,\"unit\":\"WEEK\"}");
  }
}
