package io.throttlekit.service.server;

import static io.throttlekit.service.authz.CheckFixture.asking;
import static io.throttlekit.service.authz.CheckFixture.header;
import static io.throttlekit.service.server.TestRequests.entries;
import static io.throttlekit.service.server.TestRequests.x;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Struct;
import io.envoyproxy.envoy.config.core.v3.Node;
import io.envoyproxy.envoy.data.accesslog.v3.HTTPAccessLogEntry;
import io.envoyproxy.envoy.service.accesslog.v3.AccessLogServiceGrpc;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsMessage;
import io.envoyproxy.envoy.service.accesslog.v3.StreamAccessLogsResponse;
import io.envoyproxy.envoy.service.auth.v3.AuthorizationGrpc;
import io.envoyproxy.envoy.service.discovery.v3.AggregatedDiscoveryServiceGrpc;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryRequest;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.envoyproxy.envoy.service.load_stats.v3.LoadReportingServiceGrpc;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsRequest;
import io.envoyproxy.envoy.service.load_stats.v3.LoadStatsResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.CallOptions;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthCheckResponse.ServingStatus;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.StreamObserver;
import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.xds.LimitServerSettings;
import io.throttlekit.service.Logged;
import io.throttlekit.service.authz.CheckFixture;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.StreamReport;
import io.throttlekit.service.concurrency.sensors.AccessLogs;
import io.throttlekit.service.concurrency.sensors.LoadReports;
import io.throttlekit.service.concurrency.sensors.Recorded;
import io.throttlekit.service.concurrency.sensors.Recorded.EndedStream;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.telemetry.AccessLogMetrics;
import io.throttlekit.service.telemetry.LoadReportMetrics;
import io.throttlekit.service.telemetry.Telemetry;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DrainTest {
  private final AtomicReference<@Nullable String> lastRefusal = new AtomicReference<>();
  private final Setup setup = new Setup(Book.X, Setup.NATIVE, Setup.BARE);

  @Test
  void underLoadEveryCallThatReachedTheServerIsAnswered() throws Exception {
    GrpcServer leaving = serve(Duration.ofMinutes(5), Duration.ofMillis(100));
    GrpcServer staying = setup.serve(Setup.loopback());
    AtomicInteger answered = new AtomicInteger();
    AtomicInteger moved = new AtomicInteger();
    List<Thread> callers = new ArrayList<>();
    List<Throwable> lost = java.util.Collections.synchronizedList(new ArrayList<>());
    ManagedChannel first = Channels.to(leaving);
    ManagedChannel second = Channels.to(staying);
    for (int c = 0; c < 8; c++) {
      callers.add(
          Thread.ofVirtual()
              .start(() -> {
                try {
                  while (moved.get() < 50) {
                    if (callOnce(first)) {
                      answered.incrementAndGet();
                    } else {
                      // The port is closed; a lost call would be a closed connection.
                      assertThat(lastRefusal.get()).isEqualTo("io exception");
                      assertThat(setup.health.serving()).isFalse();
                      moved.incrementAndGet();
                      assertThat(callOnce(second)).isTrue();
                    }
                  }
                } catch (Throwable t) {
                  lost.add(t);
                }
              }));
    }
    await().until(() -> answered.get() > 200);
    leaving.stop();
    for (Thread caller : callers) {
      caller.join();
    }
    assertThat(lost).isEmpty();
    assertThat(answered.get()).isGreaterThan(200);
    first.shutdownNow();
    second.shutdownNow();
    staying.stop();
  }

  @Test
  void duringTheDelayHealthIsNotServingAndCallsAreAnswered() throws Exception {
    GrpcServer server = serve(Duration.ofSeconds(5), Duration.ofMinutes(10));
    ManagedChannel channel = Channels.to(server);
    ManagedChannel later = Channels.to(server); // the first may not see its end yet
    Thread stopping = Thread.ofVirtual().start(server::stop);
    await().until(() -> !setup.health.serving());
    assertThat(callOnce(channel)).isTrue();
    assertThat(stopping.isAlive()).isTrue();
    stopping.interrupt();
    stopping.join();
    assertThat(callOnce(later)).isFalse();
    channel.shutdownNow();
    later.shutdownNow();
  }

  @Test
  void aCallInProgressEndsBeforeTheServerDoes() throws Exception {
    GrpcServer server = serve(Duration.ofMinutes(5), Duration.ZERO);
    ManagedChannel channel = Channels.to(server);
    CompletableFuture<Status> ended = new CompletableFuture<>();
    var call = open(channel, ended);
    Thread stopping = Thread.ofVirtual().start(server::stop);
    await().until(() -> !setup.health.serving());
    assertThat(ended).isNotDone();
    call.halfClose();
    assertThat(ended.get().getCode()).isEqualTo(Status.Code.OK);
    stopping.join();
    channel.shutdownNow();
  }

  @Test
  void aCallThatDoesNotEndIsCancelledAtTheDrainTimeout() throws Exception {
    assertThat(logOfCancelling(GrpcServer::stop))
        .containsExactly("WARNING cancelling the calls that are still in progress after PT0.2S");
  }

  @Test
  void aCancelledCallOfThisProcessIsNoWarning() throws Exception {
    assertThat(logOfCancelling(GrpcServer::stopOwnCalls)).isEmpty();
  }

  /** Stops a server with a call that does not end, and returns what the server has logged. */
  private List<String> logOfCancelling(Consumer<GrpcServer> stop) throws Exception {
    GrpcServer server = serve(Duration.ofMillis(200), Duration.ZERO);
    ManagedChannel channel = Channels.to(server);
    CompletableFuture<Status> ended = new CompletableFuture<>();
    var _ = open(channel, ended);
    try (Logged logged = Logged.by(GrpcServer.class)) {
      stop.accept(server);
      assertThat(ended.get().getCode()).isIn(Status.Code.UNAVAILABLE, Status.Code.CANCELLED);
      return logged.lines();
    } finally {
      channel.shutdownNow();
    }
  }

  @Test
  void aClientThatOnlyKeepsItsConnectionOpenHasNoCallInProgress() throws Exception {
    GrpcServer server = serve(Duration.ofMinutes(5), Duration.ZERO);
    try (RawConnection silent = new RawConnection(server); // it never answers a GOAWAY's ping
        Logged logged = Logged.by(GrpcServer.class)) {
      silent.beginCall(1, Map.of());
      silent.ask(1, TestRequests.x(TestRequests.entries("nothing", "y")).toByteArray());
      silent.await(RawConnection.Frame::endsCall);
      server.stop();
      assertThat(logged.lines()).isEmpty();
    }
  }

  @Test
  void aWatchOfHealthIsNotifiedAndEndedWithoutDelayingTheDrain() throws Exception {
    GrpcServer server = serve(Duration.ofMinutes(5), Duration.ZERO);
    ManagedChannel channel = Channels.to(server);
    Seen<HealthCheckResponse> watch = new Seen<>();
    HealthGrpc.newStub(channel).watch(HealthCheckRequest.getDefaultInstance(), watch);
    await().until(() -> !watch.values.isEmpty());
    server.stop(); // far sooner than its bound, or the test takes too long
    assertThat(watch.ended.get()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(watch.values.stream().map(HealthCheckResponse::getStatus))
        .containsExactly(ServingStatus.SERVING, ServingStatus.NOT_SERVING);
    channel.shutdownNow();
  }

  @Test
  void onlyACallInProgressDelaysTheDrainAndNotAReflectionStream() throws Exception {
    GrpcServer server =
        setup.serve(
            Setup.reflecting(Setup.listener(null, null, Duration.ofMinutes(5), Duration.ZERO)));
    ManagedChannel channel = Channels.to(server);
    CompletableFuture<Status> ended = new CompletableFuture<>();
    var call = open(channel, ended);
    Seen<ServerReflectionResponse> stream = new Seen<>();
    ServerReflectionGrpc.newStub(channel)
        .serverReflectionInfo(stream)
        .onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
    await().until(() -> !stream.values.isEmpty());
    Thread stopping = Thread.ofVirtual().start(server::stop);
    assertThat(stream.ended.get()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(stopping.isAlive()).isTrue();
    call.halfClose();
    assertThat(ended.get().getCode()).isEqualTo(Status.Code.OK);
    stopping.join();
    channel.shutdownNow();
  }

  @Test
  void accessLogAndLoadReportStreamsDoNotDelayTheDrain() throws Exception {
    Recorded recorded = new Recorded();
    Telemetry telemetry = Telemetry.start(ConfigLoader.defaults().telemetry());
    GrpcServer server =
        setup.serve(
            Setup.listener(null, null, Duration.ofMinutes(5), Duration.ZERO),
            List.of(
                new AccessLogs(
                    recorded,
                    new AccessLogMetrics(telemetry.meter(), () -> true),
                    TimeSource.system(),
                    10),
                new LoadReports(
                    recorded,
                    new LoadReportMetrics(telemetry.meter()),
                    TimeSource.system(),
                    Duration.ofSeconds(1))));
    ManagedChannel channel = Channels.to(server);
    Seen<StreamAccessLogsResponse> log = new Seen<>();
    var entries =
        StreamAccessLogsMessage.newBuilder()
            .setHttpLogs(
                StreamAccessLogsMessage.HTTPAccessLogEntries.newBuilder()
                    .addLogEntry(HTTPAccessLogEntry.getDefaultInstance()));
    AccessLogServiceGrpc.newStub(channel).streamAccessLogs(log).onNext(entries.build());
    Seen<LoadStatsResponse> load = new Seen<>();
    Node node = Node.newBuilder().setId("edge-1").build();
    LoadReportingServiceGrpc.newStub(channel)
        .streamLoadStats(load)
        .onNext(LoadStatsRequest.newBuilder().setNode(node).build());
    await().until(() -> !load.values.isEmpty() && !recorded.ended.isEmpty());
    server.stop(); // far sooner than its bound, or the test takes too long
    assertThat(log.ended.get()).isEqualTo(Status.Code.UNAVAILABLE);
    assertThat(load.ended.get()).isEqualTo(Status.Code.UNAVAILABLE);
    await().until(() -> recorded.left.equals(List.of(new EndedStream("edge-1", 1))));
    channel.shutdownNow();
    telemetry.close();
  }

  @Test
  void aLimitSubscriptionDoesNotDelayTheDrain() throws Exception {
    ServedLimits limits =
        new ServedLimits(LimitServerSettings.DEFAULT, TimeSource.system(), (_, _, _) -> {});
    limits.offer("up", 10);
    GrpcServer server =
        setup.serve(
            Setup.listener(null, null, Duration.ofMinutes(5), Duration.ZERO), limits.services());
    ManagedChannel channel = Channels.to(server);
    Seen<DiscoveryResponse> notified = new Seen<>();
    AggregatedDiscoveryServiceGrpc.newStub(channel)
        .streamAggregatedResources(notified)
        .onNext(
            DiscoveryRequest.newBuilder()
                .setNode(Node.newBuilder().setId("edge-1"))
                .setTypeUrl("type.googleapis.com/envoy.service.runtime.v3.Runtime")
                .addResourceNames("concurrency_limits")
                .build());
    await().until(() -> !notified.values.isEmpty());
    server.stop(); // far sooner than its bound, or the test takes too long
    assertThat(notified.ended.get()).isEqualTo(Status.Code.UNAVAILABLE);
    channel.shutdownNow();
  }

  @Test
  void queuedRequestsAreAdmittedDuringTheDrain() throws Exception {
    String policy =
        """
        domain: %s
        descriptors: [{key: up, concurrency: {min: 1, max: 1, queue: {}}}]
        """;
    Setup gated = new Setup(policy.formatted("x"), Setup.NATIVE, Setup.BARE, new ManualTime(0));
    CheckFixture checked = CheckFixture.by(policy.formatted("d"), header("up"));
    GrpcServer server =
        gated.serve(
            Setup.listener(null, null, Duration.ofMinutes(5), Duration.ZERO),
            List.of(() -> CallHandler.ofChecks(checked.frontEnd, null, checked.time).definition()));
    ManagedChannel channel = Channels.to(server);
    var limits = RateLimitServiceGrpc.newFutureStub(channel);
    var checks = AuthorizationGrpc.newFutureStub(channel);
    var limit = limits.shouldRateLimit(x(entries("up", "a"))).get();
    var check = checks.check(asking("up", "a")).get();
    var limitLater = limits.shouldRateLimit(x(entries("up", "a")));
    var checkLater = checks.check(asking("up", "a"));
    await().until(() -> queued(gated.gate()) == 1 && queued(checked.gate) == 1);
    Thread stopping = Thread.ofVirtual().start(server::stop);
    await().until(() -> !gated.health.serving());
    assertThat(limitLater.isDone() || checkLater.isDone()).isFalse();
    gated.gate().permits().streamDone(lease(limit.getDynamicMetadata()), StreamReport.NONE);
    checked.gate.permits().streamDone(lease(check.getDynamicMetadata()), StreamReport.NONE);
    assertThat(limitLater.get().getOverallCode()).isEqualTo(Code.OK);
    assertThat(checkLater.get().getStatus().getCode()).isZero();
    stopping.join();
    channel.shutdownNow();
  }

  private static int queued(ConcurrencyLimiter gate) {
    AtomicInteger queued = new AtomicInteger();
    gate.limits().forEach((_, figures) -> queued.addAndGet(figures.queued()));
    return queued.get();
  }

  private static String lease(Struct metadata) {
    return metadata.getFieldsOrThrow("lease").getStringValue();
  }

  /** Records the messages of a stream, and its end. */
  private static final class Seen<T> implements StreamObserver<T> {
    final Queue<T> values = new ConcurrentLinkedQueue<>();
    final CompletableFuture<Status.Code> ended = new CompletableFuture<>();

    @Override
    public void onNext(T value) {
      values.add(value);
    }

    @Override
    public void onError(Throwable t) {
      ended.complete(Status.fromThrowable(t).getCode());
    }

    @Override
    public void onCompleted() {
      ended.complete(Status.Code.OK);
    }
  }

  private GrpcServer serve(Duration drainTimeout, Duration drainDelay) {
    return setup.serve(Setup.listener(null, null, drainTimeout, drainDelay));
  }

  /** Starts a call that the client does not complete. */
  private ClientCall<?, ?> open(ManagedChannel channel, CompletableFuture<Status> ended) {
    assertThat(callOnce(channel)).isTrue(); // connected
    var call =
        channel.newCall(RateLimitServiceGrpc.getShouldRateLimitMethod(), CallOptions.DEFAULT);
    call.start(
        new ClientCall.Listener<>() {
          @Override
          public void onClose(Status status, Metadata trailers) {
            ended.complete(status);
          }
        },
        new Metadata());
    call.request(1);
    call.sendMessage(x(entries("max", "a")));
    assertThat(callOnce(channel)).isTrue(); // ordered after the call: the server has it
    return call;
  }

  /** Returns false when the draining server refuses the call. */
  private boolean callOnce(ManagedChannel channel) {
    try {
      var response =
          RateLimitServiceGrpc.newBlockingStub(channel).shouldRateLimit(x(entries("max", "a")));
      assertThat(response.getOverallCode()).isEqualTo(Code.OK);
      return true;
    } catch (StatusRuntimeException e) {
      assertThat(e.getStatus().getCode()).as("%s", e).isEqualTo(Status.Code.UNAVAILABLE);
      lastRefusal.set(e.getStatus().getDescription());
      return false;
    }
  }
}
