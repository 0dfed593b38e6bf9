package io.throttlekit.service.server;

import static io.throttlekit.service.server.Ask.entries;
import static io.throttlekit.service.server.Ask.x;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.data.accesslog.v3.AccessLogCommon;
import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage.HTTPAccessLogEntries;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.api.OpenTelemetry;
import io.throttlekit.TimeSource;
import io.throttlekit.service.Logged;
import io.throttlekit.service.accesslog.AccessLogs;
import io.throttlekit.service.sensor.Load;
import io.throttlekit.service.sensor.Reading;
import io.throttlekit.service.sensor.Sensed;
import io.throttlekit.service.telemetry.AccessLogMetrics;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
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
    assertThat(ask(channel, "max")).isEqualTo(Code.OK);
    Thread loop = onlyOne(clock.askedOn);
    long waits = waits(loop);
    for (int i = 0; i < 2_000; i++) {
      assertThat(ask(channel, "max")).isEqualTo(Code.OK);
    }
    assertThat(waits(loop)).isEqualTo(waits);
    assertThat(onlyOne(clock.askedOn)).isSameAs(loop);
    assertThat(loop.getName()).startsWith(Transport.THREADS);
    channel.shutdownNow();
    server.stop();
  }

  @Test
  void aCallThatBlocksWouldBeCounted() {
    Clock clock = new Clock();
    clock.blocking = true;
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE, clock);
    GrpcServer server = setup.serve(Setup.loopback());
    ManagedChannel channel = Channels.to(server);
    assertThat(ask(channel, "max")).isEqualTo(Code.OK);
    Thread loop = onlyOne(clock.askedOn);
    long waits = waits(loop);
    for (int i = 0; i < 20; i++) {
      assertThat(ask(channel, "max")).isEqualTo(Code.OK);
    }
    assertThat(waits(loop)).isGreaterThanOrEqualTo(waits + 20);
    channel.shutdownNow();
    server.stop();
  }

  @Test
  void anAccessLogIsReadOnTheEventLoopItselfWithoutEverBlockingIt() {
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
    Reader reader = new Reader();
    AccessLogMetrics counted = new AccessLogMetrics(OpenTelemetry.noop().getMeter("test"));
    GrpcServer server =
        setup.serve(
            Setup.loopback(),
            List.of(new AccessLogs(reader, counted, TimeSource.system(), 1_000_000)));
    ManagedChannel channel = Channels.to(server);
    StreamObserver<StreamAccessLogsMessage> log =
        AccessLogServiceGrpc.newStub(channel).streamAccessLogs(new Ignored());
    log.onNext(tenFailures(0));
    await().until(() -> reader.read.get() == 10);
    Thread loop = onlyOne(reader.threads);
    assertThat(loop.getName()).startsWith(Transport.THREADS);
    long waits = waits(loop);
    for (int i = 1; i <= 2_000; i++) {
      log.onNext(tenFailures(i));
    }
    await().until(() -> reader.read.get() == 20_010);
    assertThat(waits(loop)).isEqualTo(waits);
    assertThat(onlyOne(reader.threads)).isSameAs(loop);
    channel.shutdownNow();
    server.stop();
  }

  @Test
  void somethingUnexpectedIsAnInternalErrorThatTellsNothingAndTheServerLivesOn() {
    Clock clock = new Clock();
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE, clock);
    GrpcServer server = setup.serve(Setup.loopback());
    ManagedChannel channel = Channels.to(server);
    try (Logged logged = Logged.by(RateLimitCall.class)) {
      for (Throwable unexpected :
          List.of(new IllegalStateException("password=secret"), new StackOverflowError())) {
        clock.failure.set(unexpected);
        assertThatThrownBy(() -> ask(channel, "max"))
            .isInstanceOf(StatusRuntimeException.class)
            .hasMessage("INTERNAL: internal error");
      }
      String line = "SEVERE a rate limit request failed";
      assertThat(logged.lines()).containsExactly(line, line);
    }
    assertThat(setup.metrics.lines())
        .contains("ratelimit.service.call.should_rate_limit.service_error: 2");
    clock.failure.set(null);
    assertThat(ask(channel, "max")).isEqualTo(Code.OK);
    channel.shutdownNow();
    server.stop();
  }

  /** Of requests that are remembered, so that copies would be found. */
  private static StreamAccessLogsMessage tenFailures(int message) {
    HTTPAccessLogEntries.Builder entries = HTTPAccessLogEntries.newBuilder();
    for (int i = 0; i < 10; i++) {
      AccessLogCommon.Builder common = entries.addLogEntryBuilder().getCommonPropertiesBuilder();
      common.setStreamId(message + "-" + i);
      common.getResponseFlagsBuilder().setUpstreamConnectionFailure(true);
    }
    return StreamAccessLogsMessage.newBuilder().setHttpLogs(entries).build();
  }

  private static Thread onlyOne(Set<Thread> threads) {
    assertThat(threads).hasSize(1);
    return threads.iterator().next();
  }

  /** How often the thread has slept, parked or waited; an idle event loop does none of these. */
  private static long waits(Thread thread) {
    return ManagementFactory.getThreadMXBean().getThreadInfo(thread.threadId()).getWaitedCount();
  }

  private static Code ask(ManagedChannel channel, String key) {
    return RateLimitServiceGrpc.newBlockingStub(channel)
        .shouldRateLimit(x(entries(key, "a")))
        .getOverallCode();
  }

  /** Remembers who told it. */
  private static final class Reader implements Sensed {
    final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    final AtomicInteger read = new AtomicInteger();

    @Override
    public void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
      threads.add(Thread.currentThread());
      read.incrementAndGet();
    }

    @Override
    public void reported(String node, Load load, long arrivedNanos) {}

    @Override
    public void left(String node) {}
  }

  private static final class Ignored implements StreamObserver<StreamAccessLogsResponse> {
    @Override
    public void onNext(StreamAccessLogsResponse answer) {}

    @Override
    public void onError(Throwable cause) {}

    @Override
    public void onCompleted() {}
  }

  private static final class Clock implements TimeSource {
    final Set<Thread> askedOn = ConcurrentHashMap.newKeySet();
    final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    volatile boolean blocking;

    @Override
    public long wallMillis() {
      askedOn.add(Thread.currentThread());
      switch (failure.get()) {
        case RuntimeException exception -> throw exception;
        case Error error -> throw error;
        case null, default -> {}
      }
      if (blocking) {
        LockSupport.parkNanos(1_000_000);
      }
      return Setup.NOW;
    }

    @Override
    public long monotonicNanos() {
      return System.nanoTime();
    }
  }
}
