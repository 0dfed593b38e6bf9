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
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Requests for every counter at a steady rate to each process, from when it is made until it is
 * closed. What a process leaves unanswered bounds what is sent to it, as Envoy's circuit breakers
 * do. Thread-safe.
 */
final class Load implements AutoCloseable {
  /** How long a request waits for its answer; less than that is not held against a process. */
  static final long ANSWER_SECONDS = 5;

  private static final Duration LAST_ANSWERS = Duration.ofSeconds(30);
  private static final long TICK_MILLIS = 5;
  private static final int MAX_CATCH_UP = 50;
  private static final int MAX_IN_FLIGHT = 200;

  /** How long a caller waits before it goes on without an answer. */
  static final long CALLER_WAITS_MILLIS = 1_000;

  /** Ticks that come so late show that this process did not run. */
  private static final long LATE_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

  private static final Metadata.Key<String> EXPECTED_TIMEOUT =
      Metadata.Key.of("x-envoy-expected-rq-timeout-ms", Metadata.ASCII_STRING_MARSHALLER);

  private final TimeSource time = TimeSource.system();
  private final Admissions admitted;
  private final List<RateLimitRequest> requests = new ArrayList<>();
  private final Outcomes outcomes = new Outcomes(ChaosFleet.PROCESSES);
  private final AtomicReferenceArray<@Nullable ManagedChannel> channels =
      new AtomicReferenceArray<>(ChaosFleet.PROCESSES);
  private final double[][] due;
  private final ScheduledExecutorService ticks;
  private volatile int fasterRegion = -1;
  private volatile int factor = 1;
  private volatile long lastTickNanos = time.monotonicNanos();
  private final LongAdder stalledNanos = new LongAdder();
  private final Recorded tick = new Recorded(this::tick);

  /**
   * Begins.
   *
   * @param admitted counts what is admitted
   */
  Load(ChaosFleet fleet, Admissions admitted) {
    this.admitted = admitted;
    Counters.ALL.forEach(counter -> requests.add(counter.request()));
    due = new double[ChaosFleet.PROCESSES][requests.size()];
    for (int process = 0; process < ChaosFleet.PROCESSES; process++) {
      connect(process, fleet.node(process).port());
    }
    ticks =
        Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("chaos-load").factory());
    var _ = ticks.scheduleAtFixedRate(tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
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
  Admissions admitted() {
    return admitted;
  }

  /** What became of requests. */
  Outcomes outcomes() {
    return outcomes;
  }

  /** Adds a problem where an exception has ended the load. */
  void reportFailure(List<String> problems) {
    tick.report(problems);
  }

  /** How long this process was not run by its machine, up to now. */
  long stalledNanos() {
    return stalledNanos.sum() + Math.max(0, time.monotonicNanos() - lastTickNanos - LATE_NANOS);
  }

  /** Offers no more, and waits for the last answers. */
  void stop() {
    ticks.close();
    var _ = Waiting.until(() -> outcomes.underWay() == 0, LAST_ANSWERS);
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
    long since = now - lastTickNanos;
    stalledNanos.add(Math.max(0, since - LATE_NANOS));
    lastTickNanos = now;
    for (int process = 0; process < due.length; process++) {
      int times = ChaosFleet.regionOf(process) == fasterRegion ? factor : 1;
      for (int counter = 0; counter < requests.size(); counter++) {
        double[] owed = due[process];
        owed[counter] += times * since / 1e9 * Counters.ALL.get(counter).perSecond();
        long beyond = (long) owed[counter] - MAX_CATCH_UP;
        if (beyond > 0) {
          outcomes.behind(beyond);
          owed[counter] -= beyond;
        }
        while (owed[counter] >= 1) {
          owed[counter]--;
          send(process, counter);
        }
      }
    }
  }

  private void send(int process, int counter) {
    ManagedChannel channel = channels.get(process);
    if (channel == null) {
      return; // closed
    }
    if (outcomes.underWay(process) >= MAX_IN_FLIGHT) {
      outcomes.heldBack(process, time.monotonicNanos());
      return;
    }
    Metadata headers = new Metadata();
    headers.put(EXPECTED_TIMEOUT, Long.toString(CALLER_WAITS_MILLIS));
    outcomes.sent(process);
    // Before the deadline: what ends by it has waited for that long at least.
    Answer answer = new Answer(process, counter);
    RateLimitServiceGrpc.newStub(channel)
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
        .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
        .shouldRateLimit(requests.get(counter), answer);
  }

  /** A periodic task whose exception ends it, and is kept. Thread-safe. */
  static final class Recorded implements Runnable {
    private final Runnable task;
    private volatile @Nullable Throwable failure;

    Recorded(Runnable task) {
      this.task = task;
    }

    @Override
    public void run() {
      try {
        task.run();
      } catch (RuntimeException | Error e) {
        failure = e;
        throw e;
      }
    }

    void report(List<String> problems) {
      Throwable known = failure;
      if (known != null) {
        problems.add("the load ended by an exception: " + known);
      }
    }
  }

  private final class Answer implements StreamObserver<RateLimitResponse> {
    private final int process;
    private final int counter;
    private final long sentMillis = time.wallMillis();
    private final long sentNanos = time.monotonicNanos();
    private final long stalledBefore = stalledNanos();

    Answer(int process, int counter) {
      this.process = process;
      this.counter = counter;
    }

    @Override
    public void onNext(RateLimitResponse response) {
      boolean ok = response.getOverallCode() == Code.OK;
      if (ok) {
        admitted.of(counter).admitted(process, sentMillis, time.wallMillis());
      }
      boolean shared = ok && Counters.ALL.get(counter).global();
      outcomes.answered(process, sentNanos, time.monotonicNanos(), shared);
    }

    @Override
    public void onError(Throwable error) {
      long stalled = stalledNanos() - stalledBefore;
      outcomes.failed(
          process, sentNanos, time.monotonicNanos(), stalled, Status.fromThrowable(error));
    }

    @Override
    public void onCompleted() {
      outcomes.completed(process);
    }
  }
}
