package io.throttlekit.service.rls;

import static io.throttlekit.service.server.Ask.entries;
import static io.throttlekit.service.server.Ask.x;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.Setup;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class JsonFrontEndTest {
  private static final String REQUESTS = "ratelimit_server.ShouldRateLimit.total_requests: ";
  private static final String FAILURES = "ratelimit.service.call.should_rate_limit.service_error: ";

  private final Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
  private final JsonFrontEnd json =
      new JsonFrontEnd(setup.frontEnd(), setup.metrics(), setup.time());

  @Test
  void everyAnswerIsCountedOnce() throws Exception {
    assertThat(json.answer(() -> x(entries("one", "a"))).getOverallCode()).isEqualTo(Code.OK);
    assertThat(json.answer(() -> x(entries("one", "a"))).getOverallCode())
        .isEqualTo(Code.OVER_LIMIT);
    assertThat(setup.metrics().lines())
        .contains(REQUESTS + 2)
        .noneMatch(line -> line.startsWith(FAILURES));
  }

  @Test
  void whatIsNoRequestIsCountedOnceAsAFailureAndAsACall() {
    assertThatThrownBy(() -> json.answer(RateLimitRequest::getDefaultInstance))
        .isInstanceOf(InvalidRequestException.class);
    assertThatThrownBy(() ->
            json.answer(() -> {
              throw new IOException("not JSON");
            }))
        .isInstanceOf(IOException.class);
    assertThat(setup.metrics().lines()).contains(REQUESTS + 2, FAILURES + 2);
  }
}
