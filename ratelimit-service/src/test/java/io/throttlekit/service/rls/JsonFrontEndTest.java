package io.throttlekit.service.rls;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.Setup;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class JsonFrontEndTest {
  private static final String REQUESTS = "ratelimit_server.ShouldRateLimit.total_requests: ";
  private static final String FAILURES = "ratelimit.service.call.should_rate_limit.service_error: ";

  private final Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
  private final JsonFrontEnd json =
      new JsonFrontEnd(setup.frontEnd(), setup.metrics(), setup.time());
  private final Setup limit =
      new Setup(
          """
          domain: x
          descriptors: [{key: up, concurrency: {min: 1, max: 1}}]
          """,
          Setup.NATIVE,
          Setup.BARE);
  private final JsonFrontEnd limited =
      new JsonFrontEnd(limit.frontEnd(), limit.metrics(), limit.time());

  @Test
  void everyAnswerIsCountedOnce() throws Exception {
    assertThat(code(x(entries("one", "a")))).isEqualTo(Code.OK);
    assertThat(code(x(entries("one", "a")))).isEqualTo(Code.OVER_LIMIT);
    assertThat(StatsLines.of(setup.metrics()))
        .contains(REQUESTS + 2)
        .noneMatch(line -> line.startsWith(FAILURES));
  }

  @Test
  void anInvalidRequestIsCountedOnceAsACallAndAsAFailure() {
    assertThatThrownBy(() -> json.answer(() -> new RequestFields("", 0, List.of())))
        .isInstanceOf(InvalidRequestException.class);
    assertThatThrownBy(() ->
            json.answer(() -> {
              throw new IOException("not JSON");
            }))
        .isInstanceOf(IOException.class);
    assertThat(StatsLines.of(setup.metrics())).contains(REQUESTS + 2, FAILURES + 2);
  }

  @Test
  void aLeaseEndsIfItsAnswerIsLost() throws Exception {
    JsonAnswer first = limited.answer(() -> fields(x(entries("up", "a"))));
    assertThat(first.admitted()).isTrue();
    assertThat(limit.gate().permits().size()).isEqualTo(1);
    first.lost();
    first.lost();
    assertThat(limit.gate().permits().size()).isZero();
    assertThat(limited.answer(() -> fields(x(entries("up", "a")))).admitted())
        .as("memory is available again")
        .isTrue();
  }

  @Test
  void aLeaseEndsIfItsAnswerCannotBeWritten() {
    JsonFrontEnd speechless =
        new JsonFrontEnd(
            limit.frontEnd(),
            (_, _) -> {
              throw new IllegalStateException("speechless");
            },
            limit.metrics(),
            limit.time());
    assertThatThrownBy(() -> speechless.answer(() -> fields(x(entries("up", "a")))))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("speechless");
    assertThat(limit.gate().permits().size()).isZero();
  }

  private Code code(RateLimitRequest request) throws Exception {
    return json.answer(() -> fields(request)).admitted() ? Code.OK : Code.OVER_LIMIT;
  }

  private static RequestFields fields(RateLimitRequest request) {
    return AnswerText.fields(request);
  }
}
