package io.throttlekit.service.server;

import static io.throttlekit.service.authz.CheckFixture.asking;
import static io.throttlekit.service.authz.CheckFixture.header;
import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.data.accesslog.v3.AccessLogCommon;
import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage.HTTPAccessLogEntries;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsResponse;
import io.envoyproxy.envoy.service.auth.v3.AuthorizationGrpc;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.api.OpenTelemetry;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.xds.ClusterLimit;
import io.throttlekit.envoy.xds.LimitServerListener;
import io.throttlekit.envoy.xds.LimitServerSettings;
import io.throttlekit.service.Logged;
import io.throttlekit.service.authz.CheckFixture;
import io.throttlekit.service.concurrency.sensors.AccessLogs;
import io.throttlekit.service.concurrency.sensors.OutcomeListener;
import io.throttlekit.service.concurrency.sensors.Reading;
import io.throttlekit.service.loop.LoopThread;
import io.throttlekit.service.telemetry.AccessLogMetrics;
import io.throttlekit.service.telemetry.statsd.StatsLines;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests that decisions run on event loops, and how unexpected exceptions are handled there. */
class EventLoopTest {
  private static final String LIMIT =
      """
      domain: %s
      descriptors: [{key: up, concurrency: {min: %d, max: %d}}]
      """;

  @Test
  void aDecisionRunsOnTheEventLoopWithoutBlocking() {
    Clock clock = new Clock();
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE, clock);
    GrpcServer server = setup.serve(Setup.loopback());
    ManagedChannel channel = Channels.to(server);
    clock.forget();
    assertThat(callService(channel, "max")).isEqualTo(Code.OK);
    Thread loop = onlyOne(clock.askedOn);
    long waits = waits(loop);
    for (int i = 0; i < 2_000; i++) {
      assertThat(callService(channel, "max")).isEqualTo(Code.OK);
    }
    assertNoCallBlocked(loop, waits, 2_000);
    assertThat(onlyOne(clock.askedOn)).isSameAs(loop);
    assertThat(loop.getName()).startsWith(Transport.THREADS);
    channel.shutdownNow();
    server.stop();
  }

  @Test
  void aBlockingCallIsDetected() {
    Clock clock = new Clock();
    clock.blocking = true;
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE, clock);
    GrpcServer server = setup.serve(Setup.loopback());
    ManagedChannel channel = Channels.to(server);
    clock.forget();
    assertThat(callService(channel, "max")).isEqualTo(Code.OK);
    Thread loop = onlyOne(clock.askedOn);
    long waits = waits(loop);
    for (int i = 0; i < 20; i++) {
      assertThat(callService(channel, "max")).isEqualTo(Code.OK);
    }
    assertThat(waits(loop)).isGreaterThanOrEqualTo(waits + 20);
    channel.shutdownNow();
    server.stop();
  }

  @Test
  void anAccessLogIsReadOnTheEventLoopWithoutBlocking() {
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
    Reader reader = new Reader();
    AccessLogMetrics counted =
        new AccessLogMetrics(OpenTelemetry.noop().getMeter("test"), () -> true);
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
    assertNoCallBlocked(loop, waits, 2_000);
    assertThat(onlyOne(reader.threads)).isSameAs(loop);
    channel.shutdownNow();
    server.stop();
  }

  @Test
  void aLeaseIsAcquiredAndReleasedOnTheEventLoopWithoutBlocking() {
    Clock clock = new Clock();
    Setup setup = new Setup(LIMIT.formatted("x", 1, 1), Setup.NATIVE, Setup.BARE, clock);
    GrpcServer server = setup.serve(Setup.loopback());
    ManagedChannel channel = Channels.to(server);
    clock.forget();
    acquireAndRelease(channel);
    Thread loop = onlyOne(clock.timedOn);
    assertThat(loop.getName()).startsWith(Transport.THREADS);
    long waits = waits(loop);
    for (int i = 0; i < 1_000; i++) {
      acquireAndRelease(channel); // the limit is 1
    }
    assertNoCallBlocked(loop, waits, 1_000);
    assertThat(onlyOne(clock.timedOn)).isSameAs(loop);
    channel.shutdownNow();
    server.stop();
  }

  @Test
  void aCallKnowsItsConnection() {
    List<Object> connections = new CopyOnWriteArrayList<>();
    HealthGrpc.HealthImplBase recording =
        new HealthGrpc.HealthImplBase() {
          @Override
          public void check(
              HealthCheckRequest request, StreamObserver<HealthCheckResponse> answer) {
            connections.add(LoopThread.connection("none"));
            answer.onNext(HealthCheckResponse.getDefaultInstance());
            answer.onCompleted();
          }
        };
    GrpcServer server = GrpcServer.ofStreams(Setup.loopback(), List.of(recording.bindService()), 1);
    server.start();
    List<ManagedChannel> channels = List.of(Channels.to(server), Channels.to(server));
    for (int i = 0; i < 3; i++) {
      for (ManagedChannel channel : channels) {
        var _ = HealthGrpc.newBlockingStub(channel).check(HealthCheckRequest.getDefaultInstance());
      }
    }
    assertThat(connections).hasSize(6).doesNotContain("none");
    for (int i = 2; i < 6; i++) {
      assertThat(connections.get(i)).isSameAs(connections.get(i % 2));
    }
    assertThat(connections.get(0)).isNotSameAs(connections.get(1));
    assertThat(LoopThread.connection("none")).as("on another thread").isEqualTo("none");
    channels.forEach(ManagedChannel::shutdownNow);
    server.stop();
  }

  @Test
  void aCheckIsAnsweredOnTheEventLoopWithoutBlocking() {
    Clock clock = new Clock();
    CheckFixture authorizing = CheckFixture.by(LIMIT.formatted("d", 50, 50), header("up"));
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
    GrpcServer server =
        new GrpcServer(
            Setup.loopback(),
            setup.service(),
            List.of(CallHandler.ofChecks(authorizing.frontEnd, null, clock).definition()),
            setup.health,
            null,
            Duration.ofMillis(20));
    server.start();
    ManagedChannel channel = Channels.to(server);
    var stub = AuthorizationGrpc.newBlockingStub(channel);
    clock.forget();
    assertThat(stub.check(asking("up", "a")).getStatus().getCode()).isZero();
    Thread loop = onlyOne(clock.timedOn);
    assertThat(loop.getName()).startsWith(Transport.THREADS);
    long waits = waits(loop);
    int refused = 0;
    for (int i = 0; i < 1_000; i++) {
      refused += stub.check(asking("up", "a")).getStatus().getCode() == 0 ? 0 : 1;
    }
    assertThat(refused).as("some find no room").isBetween(1, 999);
    assertNoCallBlocked(loop, waits, 1_000);
    assertThat(onlyOne(clock.timedOn)).isSameAs(loop);
    channel.shutdownNow();
    server.stop();
  }

  @Test
  void anAcknowledgementIsReadOnTheEventLoopItselfWithoutEverBlockingIt() throws Exception {
    AcknowledgementRecorder acknowledgements = new AcknowledgementRecorder();
    LimitServerSettings eager =
        new LimitServerSettings(
            "concurrency_limits", 9, Duration.ofSeconds(15), Duration.ofSeconds(1), Duration.ZERO);
    ServedLimits limits = new ServedLimits(eager, TimeSource.system(), acknowledgements);
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);
    GrpcServer server = setup.serve(Setup.loopback(), limits.services());
    ManagedChannel channel = Channels.to(server);
    AcknowledgingEnvoy.connect(channel);
    limits.offer("up", 7);
    acknowledgements.await(7);
    for (int i = 0; acknowledgements.threads.isEmpty(); i++) { // this thread may be notified first
      limits.offer("up", 10 + i);
      acknowledgements.await(10 + i);
    }
    Thread loop = onlyOne(acknowledgements.threads);
    assertThat(loop.getName()).startsWith(Transport.THREADS);
    long waits = waits(loop);
    for (int i = 1_000; i <= 2_000; i++) {
      limits.offer("up", i);
      acknowledgements.await(i);
    }
    assertNoCallBlocked(loop, waits, 1_000);
    assertThat(onlyOne(acknowledgements.threads)).isSameAs(loop);
    channel.shutdownNow();
    server.stop();
  }

  @Test
  void anUnexpectedExceptionIsAnInternalErrorWithoutDetailsAndTheServerLivesOn() {
    Clock clock = new Clock();
    Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE, clock);
    GrpcServer server = setup.serve(Setup.loopback());
    ManagedChannel channel = Channels.to(server);
    try (Logged logged = Logged.by(CallWarnings.class)) {
      for (Throwable unexpected :
          List.of(new IllegalStateException("password=secret"), new StackOverflowError())) {
        clock.failure.set(unexpected);
        assertThatThrownBy(() -> callService(channel, "max"))
            .isInstanceOf(StatusRuntimeException.class)
            .hasMessage("INTERNAL: internal error");
      }
      assertThat(logged.lines()) // the second comes within ten seconds
          .containsExactly("SEVERE 1 ShouldRateLimit calls failed since the last such line");
    }
    assertThat(StatsLines.of(setup.metrics))
        .contains("ratelimit.service.call.should_rate_limit.service_error: 2");
    clock.failure.set(null);
    assertThat(callService(channel, "max")).isEqualTo(Code.OK);
    channel.shutdownNow();
    server.stop();
  }

  private static void acquireAndRelease(ManagedChannel channel) {
    var stub = RateLimitServiceGrpc.newBlockingStub(channel);
    RateLimitResponse answer = stub.shouldRateLimit(x(entries("up", "a")));
    assertThat(answer.getOverallCode()).isEqualTo(Code.OK);
    String lease = answer.getDynamicMetadata().getFieldsOrThrow("lease").getStringValue();
    var _ = stub.shouldRateLimit(x(entries("throttlekit_lease", lease)));
  }

  /** Returns failures, whose entries are remembered to detect duplicates. */
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

  /** A blocking call waits each time; a lock whose holder a busy machine suspends, now and then. */
  private static void assertNoCallBlocked(Thread loop, long waitsBefore, int calls) {
    assertThat(waits(loop) - waitsBefore).isLessThan(calls / 100);
  }

  /**
   * Returns how often the thread has slept, parked or waited; an idle event loop does none of
   * these.
   */
  private static long waits(Thread thread) {
    return ManagementFactory.getThreadMXBean().getThreadInfo(thread.threadId()).getWaitedCount();
  }

  private static Code callService(ManagedChannel channel, String key) {
    return RateLimitServiceGrpc.newBlockingStub(channel)
        .shouldRateLimit(x(entries(key, "a")))
        .getOverallCode();
  }

  /** Records the threads that it is called on. */
  private static final class Reader implements OutcomeListener {
    final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    final AtomicInteger read = new AtomicInteger();

    @Override
    public void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
      threads.add(Thread.currentThread());
      read.incrementAndGet();
    }
  }

  private static final class Ignored implements StreamObserver<StreamAccessLogsResponse> {
    @Override
    public void onNext(StreamAccessLogsResponse answer) {}

    @Override
    public void onError(Throwable cause) {}

    @Override
    public void onCompleted() {}
  }

  /** Records the threads, except the test's own, on which limits are acknowledged. */
  private static final class AcknowledgementRecorder implements LimitServerListener {
    final Set<Thread> threads = ConcurrentHashMap.newKeySet();
    private final Thread own = Thread.currentThread();
    private final Semaphore changes = new Semaphore(0);
    private volatile int newest;

    @Override
    public void acknowledged(ClusterLimit limit, int requests, long sinceNanos) {
      if (!Thread.currentThread().equals(own)) {
        threads.add(Thread.currentThread());
      }
      newest = requests;
      changes.release();
    }

    void await(int requests) throws InterruptedException {
      while (newest != requests) {
        assertThat(changes.tryAcquire(5, TimeUnit.MINUTES)).isTrue();
      }
    }
  }

  /** An Envoy that acknowledges every update. */
  private static final class AcknowledgingEnvoy
      implements ClientResponseObserver<DiscoveryRequest, DiscoveryResponse> {
    private @Nullable ClientCallStreamObserver<DiscoveryRequest> call;

    static void connect(ManagedChannel channel) {
      var _ =
          AggregatedDiscoveryServiceGrpc.newStub(channel)
              .streamAggregatedResources(new AcknowledgingEnvoy());
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<DiscoveryRequest> stream) {
      call = stream;
      stream.setOnReadyHandler(() -> sendRequest(DiscoveryRequest.newBuilder()));
    }

    @Override
    public void onNext(DiscoveryResponse notified) {
      sendRequest(
          DiscoveryRequest.newBuilder()
              .setVersionInfo(notified.getVersionInfo())
              .setResponseNonce(notified.getNonce()));
    }

    private void sendRequest(DiscoveryRequest.Builder what) {
      Objects.requireNonNull(call)
          .onNext(
              what.setNode(Node.newBuilder().setId("a"))
                  .setTypeUrl("type.googleapis.com/envoy.service.runtime.v3.Runtime")
                  .addResourceNames("concurrency_limits")
                  .build());
    }

    @Override
    public void onError(Throwable cause) {}

    @Override
    public void onCompleted() {}
  }

  private static final class Clock implements TimeSource {
    final Set<Thread> askedOn = ConcurrentHashMap.newKeySet();
    final Set<Thread> timedOn = ConcurrentHashMap.newKeySet();
    final AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
    volatile boolean blocking;

    /** Clears the calls of the test's setup. */
    void forget() {
      askedOn.clear();
      timedOn.clear();
    }

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
      timedOn.add(Thread.currentThread());
      return System.nanoTime();
    }
  }
}
