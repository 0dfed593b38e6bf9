package io.throttlekit.service.server;

import static io.throttlekit.service.server.Ask.entries;
import static io.throttlekit.service.server.Ask.x;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.throttlekit.TimeSource;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Where decisions are taken, and what becomes of the unexpected there. */
class EventLoopTest {

  @Test
  void aDecisionIsTakenOnTheEventLoopItselfWithoutEverBlockingIt() {
    Clock clock = new Clock();
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE, clock);
    GrpcServer server = setup.serve(Setup.loopback());
    ManagedChannel channel = Channels.to(server);
    try (BlockingWatch watch = BlockingWatch.start(Transport.THREADS)) {
      for (int i = 0; i < 5_000; i++) {
        assertThat(ask(channel, "max")).isEqualTo(Code.OK);
      }
      assertThat(watch.blockedInOurCode()).isEmpty();
    }
    assertThat(clock.askedOn).allMatch(name -> name.startsWith(Transport.THREADS)).isNotEmpty();
    channel.shutdownNow();
    server.stop();
  }

  @Test
  void theWatchSeesACallThatBlocks() {
    Clock clock = new Clock();
    clock.blocking = true;
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE, clock);
    GrpcServer server = setup.serve(Setup.loopback());
    ManagedChannel channel = Channels.to(server);
    try (BlockingWatch watch = BlockingWatch.start(Transport.THREADS)) {
      for (int i = 0; i < 20; i++) {
        assertThat(ask(channel, "max")).isEqualTo(Code.OK);
      }
      assertThat(watch.blockedInOurCode()).anyMatch(stack -> stack.contains("Clock.wallMillis"));
    }
    channel.shutdownNow();
    server.stop();
  }

  @Test
  void somethingUnexpectedIsAnInternalErrorThatTellsNothingAndTheServerLivesOn() {
    Clock clock = new Clock();
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE, clock);
    GrpcServer server = setup.serve(Setup.loopback());
    ManagedChannel channel = Channels.to(server);
    for (Throwable unexpected :
        List.of(new IllegalStateException("password=secret"), new StackOverflowError())) {
      clock.failure.set(unexpected);
      assertThatThrownBy(() -> ask(channel, "max"))
          .isInstanceOf(StatusRuntimeException.class)
          .hasMessage("INTERNAL: internal error");
    }
    assertThat(setup.metrics.lines())
        .contains("ratelimit.service.call.should_rate_limit.service_error: 2");
    clock.failure.set(null);
    assertThat(ask(channel, "max")).isEqualTo(Code.OK);
    channel.shutdownNow();
    server.stop();
  }

  private static Code ask(ManagedChannel channel, String key) {
    return RateLimitServiceGrpc.newBlockingStub(channel)
        .shouldRateLimit(x(entries(key, "a")))
        .getOverallCode();
  }

  private static final class Clock implements TimeSource {
    final Set<String> askedOn = ConcurrentHashMap.newKeySet();
    final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    volatile boolean blocking;

    @Override
    public long wallMillis() {
      askedOn.add(Thread.currentThread().getName());
      switch (failure.get()) {
        case RuntimeException exception -> throw exception;
        case Error error -> throw error;
        case null, default -> {}
      }
      if (blocking) {
        java.util.concurrent.locks.LockSupport.parkNanos(5_000_000);
      }
      return Setup.NOW;
    }

    @Override
    public long monotonicNanos() {
      return System.nanoTime();
    }
  }
}
