package io.throttlekit.service.rls;

import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.hits;
import static io.throttlekit.service.server.TestRequests.limit;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.InvalidProtocolBufferException;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.throttlekit.service.admission.NeverLater;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.server.Setup;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Reads the hand-written bytes with protobuf's message classes. */
class ResponseWriterTest {
  private static final List<RateLimitRequest> REQUESTS =
      List.of(
          x(entries("nothing", "a")),
          x(entries("unl", "a")),
          x(entries("ten", "a")),
          x(entries("odd", "a")),
          x(entries("max", "a")),
          x(hits(11, entries("ten", "b"))),
          x(limit(0, 1, entries("any", "a"))),
          x(limit(-1, 7, entries("any", "b"))),
          x(
              entries("ten", "a"),
              entries("nothing", "a"),
              entries("unl", "a"),
              entries("one", "a")));

  private final RateLimitFrontEnd service = new Setup(Book.X, Setup.NATIVE, Setup.BARE).frontEnd();

  @Test
  void everyAnswerHasTheBytesOfProtobuf() throws InvalidProtocolBufferException {
    int bytes = 0;
    for (RateLimitRequest request : REQUESTS) {
      for (int times = 0; times < 3; times++) {
        byte[] message = request.toByteArray();
        var asked = service.read(message);
        var answer = Objects.requireNonNull(service.decide(asked, new NeverLater()));
        byte[] response = service.write(asked, answer);
        RateLimitResponse read = RateLimitResponse.parseFrom(response);
        assertThat(read.toByteArray()).isEqualTo(response);
        assertThat(read.getUnknownFields().asMap()).isEmpty();
        assertThat(read.getStatusesCount()).isEqualTo(request.getDescriptorsCount());
        bytes += response.length;
      }
    }
    assertThat(bytes).isPositive();
  }
}
