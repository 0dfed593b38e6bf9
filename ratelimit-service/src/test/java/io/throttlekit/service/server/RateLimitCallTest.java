package io.throttlekit.service.server;

import static io.throttlekit.service.server.Ask.entries;
import static io.throttlekit.service.server.Ask.x;
import static org.assertj.core.api.Assertions.assertThat;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.Status;
import io.throttlekit.service.admission.Admission.Later;
import io.throttlekit.service.admission.Answer;
import io.throttlekit.service.admission.Verdict;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.service.telemetry.DecisionTracing;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Answers that come later, from anywhere. */
class RateLimitCallTest {
  private static final int CALLS = 5_000;

  private final Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
  private final AtomicReference<@Nullable Later> later = new AtomicReference<>();
  private final ShouldRateLimit service =
      new ShouldRateLimit(
          new RateLimitFrontEnd(
              (request, waiting) -> {
                later.set(waiting);
                return null;
              },
              Setup.BARE,
              Setup.NATIVE,
              200,
              setup.time),
          setup.metrics,
          DecisionTracing.off(),
          setup.time);

  @Test
  void anAnswerAFailureAndAGoneCallerAtOnceEndTheCallOnce() throws Exception {
    CyclicBarrier together = new CyclicBarrier(3);
    AtomicReference<RateLimitCall> current = new AtomicReference<>();
    Closed[] closed = new Closed[CALLS];
    Thread answering =
        each(together, () -> current.get().answered(new Answer(true, List.of(Verdict.UNTOUCHED))));
    Thread leaving = each(together, () -> current.get().onCancel());
    for (int i = 0; i < CALLS; i++) {
      closed[i] = new Closed();
      current.set(begun(closed[i]));
      together.await();
      current.get().failed(new io.throttlekit.service.rls.InvalidRequestException("no store"));
      together.await();
    }
    answering.join();
    leaving.join();
    assertThat(closed).allMatch(call -> call.times.get() <= 1);
    assertThat(setup.metrics.lines())
        .contains("ratelimit_server.ShouldRateLimit.total_requests: " + CALLS);
  }

  @Test
  void anAnswerLaterIsSent() {
    Closed call = new Closed();
    RateLimitCall begun = begun(call);
    assertThat(later.get()).isSameAs(begun);
    begun.answered(new Answer(true, List.of(Verdict.UNTOUCHED)));
    begun.answered(new Answer(true, List.of(Verdict.UNTOUCHED)));
    assertThat(call.times).hasValue(1);
  }

  private RateLimitCall begun(Closed call) {
    RateLimitCall begun = new RateLimitCall(service, call, null);
    begun.onMessage(x(entries("one", "a")).toByteArray());
    begun.onHalfClose();
    return begun;
  }

  private static Thread each(CyclicBarrier together, Runnable action) {
    return Thread.ofPlatform()
        .start(() -> {
          try {
            for (int i = 0; i < CALLS; i++) {
              together.await();
              action.run();
              together.await();
            }
          } catch (Exception e) {
            throw new AssertionError(e);
          }
        });
  }

  private static final class Closed extends ServerCall<byte[], byte[]> {
    final AtomicInteger times = new AtomicInteger();

    @Override
    public void close(Status status, Metadata trailers) {
      times.incrementAndGet();
    }

    @Override
    public void request(int messages) {}

    @Override
    public void sendHeaders(Metadata headers) {}

    @Override
    public void sendMessage(byte[] message) {}

    @Override
    public boolean isCancelled() {
      return false;
    }

    @Override
    public MethodDescriptor<byte[], byte[]> getMethodDescriptor() {
      return RateLimitServiceGrpc.getShouldRateLimitMethod().toBuilder(
              MessageBytes.MARSHALLER, MessageBytes.MARSHALLER)
          .build();
    }
  }
}
