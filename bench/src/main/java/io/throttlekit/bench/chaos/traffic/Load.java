package io.throttlekit.bench.chaos.traffic;

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
import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.fleet.Counters;
import io.throttlekit.bench.chaos.fleet.Waiting;
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
 * Requests for every counter at a steady rate to each process, from construction until it is
 * closed. The number of unanswered requests to a process is bounded, as by Envoy's circuit
 * breakers. Thread-safe.
 */
public final class Load implements AutoCloseable {
  /** Deadline of a request; one that reaches it counts as unanswered. */
  public static final long ANSWER_SECONDS = 5;

  // Far beyond the deadline of a request.
  private static final Duration LAST_ANSWERS = Duration.ofSeconds(30);
  // Shorter ticks would take processor time from the fleet on a small machine.
  private static final long TICK_MILLIS = 5;
  // Requests that a late tick sends; the rest counts as not sent.
  private static final int MAX_CATCH_UP = 50;
  // Above what a healthy process has in flight; bounds memory while one is paused.
  private static final int MAX_IN_FLIGHT = 200;

  /** Time after which a caller continues without an answer. */
  static final long CALLER_WAITS_MILLIS = 1_000;

  /** Delay of a tick that shows that this process did not run. */
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
   * Starts to send requests.
   *
   * @param admitted counts admitted units
   */
  public Load(ChaosFleet fleet, Admissions admitted) {
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

  /** Redirects the requests to a process to another port. */
  public void connect(int process, int port) {
    ManagedChannel before = channels.getAndSet(process, channel(port));
    if (before != null) {
      before.shutdownNow();
    }
  }

  /** Opens a separate connection to a process. */
  public static ManagedChannel channel(int port) {
    return NettyChannelBuilder.forAddress("127.0.0.1", port)
        .usePlaintext()
        .directExecutor()
        .disableRetry()
        .build();
  }

  /** Multiplies the rate to the processes of a region until {@link #steady}. */
  public void faster(int region, int by) {
    factor = by;
    fasterRegion = region;
  }

  /** Restores the same rate for all regions. */
  public void steady() {
    fasterRegion = -1;
  }

  /** Returns the admitted units of each counter. */
  public Admissions admitted() {
    return admitted;
  }

  /** Returns the outcomes of requests. */
  public Outcomes outcomes() {
    return outcomes;
  }

  /** Adds a problem where an exception has ended the load. */
  public void reportFailure(List<String> problems) {
    tick.report(problems);
  }

  /** Returns the total time for which the machine did not run this process. */
  public long stalledNanos() {
    return stalledNanos.sum() + Math.max(0, time.monotonicNanos() - lastTickNanos - LATE_NANOS);
  }

  /** Stops sending, and waits for the last answers. */
  public void stop() {
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
    // Created before the deadline starts, so that an expired call has waited for at least that
    // long.
    Answer answer = new Answer(process, counter);
    RateLimitServiceGrpc.newStub(channel)
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(headers))
        .withDeadlineAfter(ANSWER_SECONDS, TimeUnit.SECONDS)
        .shouldRateLimit(requests.get(counter), answer);
  }

  /** A periodic task that an exception ends; the exception is kept. Thread-safe. */
  public static final class Recorded implements Runnable {
    private final Runnable task;
    private volatile @Nullable Throwable failure;

    public Recorded(Runnable task) {
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

    public void report(List<String> problems) {
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
