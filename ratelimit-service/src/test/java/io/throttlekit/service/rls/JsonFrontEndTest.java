package io.throttlekit.service.rls;

import static io.throttlekit.service.server.Ask.entries;
import static io.throttlekit.service.server.Ask.x;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.throttlekit.service.admission.Admission.Later;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.Setup;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
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
  private final JsonFrontEnd gated =
      new JsonFrontEnd(limit.frontEnd(), limit.metrics(), limit.time());

  @Test
  void everyAnswerIsCountedOnce() throws Exception {
    assertThat(code(x(entries("one", "a")))).isEqualTo(Code.OK);
    assertThat(code(x(entries("one", "a")))).isEqualTo(Code.OVER_LIMIT);
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

  @Test
  void aLeaseIsOverWhenItsAnswerIsLost() throws Exception {
    PendingResponse first = gated.answer(() -> x(entries("up", "a")));
    assertThat(first.response().getOverallCode()).isEqualTo(Code.OK);
    assertThat(limit.gate().leases().size()).isEqualTo(1);
    first.lost();
    first.lost();
    assertThat(limit.gate().leases().size()).isZero();
    assertThat(gated.answer(() -> x(entries("up", "a"))).response().getOverallCode())
        .as("there is room again")
        .isEqualTo(Code.OK);
  }

  @Test
  void aLeaseIsOverWhenItsAnswerCannotBeWritten() {
    JsonFrontEnd speechless =
        new JsonFrontEnd(new Speechless(limit.frontEnd()), limit.metrics(), limit.time());
    assertThatThrownBy(() -> speechless.answer(() -> x(entries("up", "a"))))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("speechless");
    assertThat(limit.gate().leases().size()).isZero();
  }

  private Code code(RateLimitRequest request) throws Exception {
    return json.answer(() -> request).response().getOverallCode();
  }

  /** Decides like another front end, but cannot write the answer. */
  private record Speechless(FrontEnd other) implements FrontEnd {
    @Override
    public io.throttlekit.service.admission.RateLimitRequest read(byte[] message) {
      return other.read(message);
    }

    @Override
    public @Nullable Answer decide(
        io.throttlekit.service.admission.RateLimitRequest request, Later later) {
      return other.decide(request, later);
    }

    @Override
    public byte[] write(byte[] message, Answer answer) {
      throw new IllegalStateException("speechless");
    }
  }
}
