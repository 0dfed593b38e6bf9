package io.throttlekit.bench.chaos;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import io.throttlekit.TimeSource;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Requests for every counter at a steady rate to each process, from when it is made until it is
 * closed. What a process leaves unanswered bounds what is sent to it, as Envoy's circuit breakers
 * do. Thread-safe.
 */
final class Load implements AutoCloseable {
  /** How long a request waits for its answer; less than that is not held against a process. */
  static final long ANSWER_SECONDS = 5;

  private static final long TICK_MILLIS = 5;
  private static final int MAX_CATCH_UP = 50;
  private static final int MAX_IN_FLIGHT = 200;
  private static final String CALLER_WAITS_MILLIS = "1000";
  private static final Metadata.Key<String> EXPECTED_TIMEOUT =
      Metadata.Key.of("x-envoy-expected-rq-timeout-ms", Metadata.ASCII_STRING_MARSHALLER);

  private final TimeSource time = TimeSource.system();
  private final List<AdmittedUnits> admitted;
  private final List<RateLimitRequest> requests = new ArrayList<>();
  private final Outcomes outcomes = new Outcomes(ChaosFleet.PROCESSES);
  private final AtomicReferenceArray<@Nullable ManagedChannel> channels =
      new AtomicReferenceArray<>(ChaosFleet.PROCESSES);
  private final double[][] due;
  private final ScheduledExecutorService ticks;
  private volatile int fasterRegion = -1;
  private volatile int factor = 1;
  private long lastTickNanos = time.monotonicNanos();

  Load(ChaosFleet fleet) {
    admitted = Counters.ALL.stream().map(each -> new AdmittedUnits(each, fleet.clock())).toList();
    Counters.ALL.forEach(counter -> requests.add(counter.request()));
    due = new double[ChaosFleet.PROCESSES][admitted.size()];
    for (int process = 0; process < ChaosFleet.PROCESSES; process++) {
      connect(process, fleet.node(process).port());
    }
    ticks =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("chaos-load").factory());
    var _ = ticks.scheduleAtFixedRate(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Sends what is for a process to another port from now on. */
  void connect(int process, int port) {
    ManagedChannel before = channels.getAndSet(process, channel(port));
    if (before != null) {
      before.shutdownNow();
    }
  }

  /** A connection of its own to a process. */
  static ManagedChannel channel(int port) {
    return NettyChannelBuilder.forAddress("127.0.0.1", port)
        .usePlaintext()
        .directExecutor()
        .disableRetry()
        .build();
  }

  /** Multiplies the rate to the processes of a region until {@link #steady}. */
  void faster(int region, int by) {
    factor = by;
    fasterRegion = region;
  }

  /** Offers all regions the same again. */
  void steady() {
    fasterRegion = -1;
  }

  /** What was admitted of each counter. */
  List<AdmittedUnits> admitted() {
    return admitted;
  }

  /** What became of requests. */
  Outcomes outcomes() {
    return outcomes;
  }

  /** Offers no more, and waits for the last answers. */
  void stop() {
    ticks.close();
    var _ = Waiting.until(() -> outcomes.underWay() == 0);
  }

  @Override
  public void close() {
    ticks.shutdownNow();
    for (int process = 0; process < ChaosFleet.PROCESSES; process++) {
      ManagedChannel channel = channels.getAndSet(process, null);
      if (channel != null) {
        channel.shutdownNow();
      }
    }
  }

  private void tick() {
    long now = time.monotonicNanos();
    double seconds = (now - lastTickNanos) / 1e9;
    lastTickNanos = now;
    for (int process = 0; process < due.length; process++) {
      int times = ChaosFleet.regionOf(process) == fasterRegion ? factor : 1;
      for (int counter = 0; counter < requests.size(); counter++) {
        double[] owed = due[process];
        owed[counter] += times * seconds * Counters.ALL.get(counter).perSecond();
        owed[counter] = Math.min(owed[counter], MAX_CATCH_UP);
        while (owed[counter] >= 1) {
          owed[counter]--;
          send(process, counter);
        }
      }
    }
  }

  private void send(int process, int counter) {
    ManagedChannel channel = channels.get(process);
    if (channel == null || outcomes.underWay(process) >= MAX_IN_FLIGHT) {
      return;
    }
    Metadata headers = new Metadata();
    headers.put(EXPECTED_TIMEOUT, CALLER_WAITS_MILLIS);
    outcomes.sent(process);
    RateLimitServiceGrpc.newStub(channel)
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
        .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
        .shouldRateLimit(requests.get(counter), new Answer(process, counter));
  }

  private final class Answer implements StreamObserver<RateLimitResponse> {
    private final int process;
    private final int counter;
    private final long sentMillis = time.wallMillis();
    private final long sentNanos = time.monotonicNanos();

    Answer(int process, int counter) {
      this.process = process;
      this.counter = counter;
    }

    @Override
    public void onNext(RateLimitResponse response) {
      boolean ok = response.getOverallCode() == Code.OK;
      if (ok) {
        admitted.get(counter).admitted(process, sentMillis, time.wallMillis());
      }
      boolean shared = ok && Counters.ALL.get(counter).global();
      outcomes.answered(process, time.monotonicNanos(), shared);
    }

    @Override
    public void onError(Throwable error) {
      outcomes.failed(process, sentNanos, time.monotonicNanos(), Status.fromThrowable(error));
    }

    @Override
    public void onCompleted() {
      outcomes.completed(process);
    }
  }
}
