package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.metrics.MeterProvider;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/**
 * Metrics of the calls from this process to an external store.
 *
 * <p>Counting increments counters in memory, which instruments read at every collection. No label
 * comes from a request. Create once, and only if there is such a store. Thread-safe.
 */
public final class StoreMetrics {
  private static final double NANOS_PER_SECOND = 1e9;

  /** Finest in the range of round trips within a region. */
  private static final List<Double> ROUND_TRIP_SECONDS =
      List.of(
          .000_1, .000_2, .000_3, .000_5, .000_75, .001, .001_5, .002, .003, .005, .01, .025, .05,
          .1, .25, .5, 1.0, 2.5);

  /** Reason why a call got no answer. */
  public enum NoAnswer {
    /** No answer arrived before the deadline. */
    TIMEOUT,
    /** The store was unreachable or answered with an error. */
    ERROR,
    /** The store was not called, because it had failed too often. */
    BREAKER_OPEN
  }

  private final LongAdder roundTrips = new LongAdder();
  private final LongAdder requests = new LongAdder();
  private final LongAdder dataLosses = new LongAdder();
  private final OurCounters.ByWord<NoAnswer> failures;
  private final DoubleHistogram roundTripTime;
  private volatile boolean counted = true;
  private volatile boolean up;
  private volatile boolean breakerOpen;

  private StoreMetrics(Meter meter, String prefix, String what) {
    OurCounters ours = new OurCounters(meter);
    ours.counter(prefix + "round_trips", "Calls that the " + what + " answered", roundTrips::sum);
    ours.counter(
        prefix + "requests", "Requests and leases that those calls carried", requests::sum);
    ours.counter(
        prefix + "data_losses", "Times the " + what + " had lost its data", dataLosses::sum);
    failures =
        ours.counters(prefix + "failures", "Calls that got no answer", "reason", NoAnswer.class);
    roundTripTime =
        meter
            .histogramBuilder(prefix + "round_trip_time")
            .setUnit("s")
            .setDescription("Time between a call and its answer")
            .setExplicitBucketBoundariesAdvice(ROUND_TRIP_SECONDS)
            .build();
    ours.gauge(prefix + "up", "1 while the " + what + " answers, else 0", () -> up ? 1 : 0);
    ours.gauge(
        prefix + "breaker_open",
        "1 while only probes are sent to the " + what + ", else 0",
        () -> breakerOpen ? 1 : 0);
  }

  /**
   * Registers the instruments of an external store.
   *
   * @param what {@code store} for a region's store, {@code coordinator} for that of all regions
   */
  public static StoreMetrics of(Meter meter, String what) {
    return new StoreMetrics(meter, "throttlekit_" + what + '_', what);
  }

  /** Returns metrics without effect, for a store in this process. */
  public static StoreMetrics none() {
    return new StoreMetrics(MeterProvider.noop().get(""), "none_", "nothing");
  }

  /**
   * Counts a call that the store answered.
   *
   * @param carried number of requests and leases in the call, from 1
   * @param nanos round trip time
   */
  public void roundTrip(int carried, long nanos) {
    if (counted) {
      roundTrips.increment();
      requests.add(carried);
      roundTripTime.record(nanos / NANOS_PER_SECOND);
    }
  }

  /** Enables or disables counting. Warm-up calls are not counted. */
  public void count(boolean counted) {
    this.counted = counted;
  }

  /**
   * Counts calls without an answer.
   *
   * @param calls how many, from 0
   */
  public void failed(NoAnswer reason, int calls) {
    if (counted) {
      failures.add(reason, calls);
    }
  }

  /** Counts a loss of the store's data. */
  public void lostData() {
    dataLosses.increment();
  }

  /** Sets whether the store answers; false until called. */
  public void up(boolean answers) {
    up = answers;
  }

  /** Sets whether the circuit breaker is open. */
  public void breakerOpen(boolean open) {
    breakerOpen = open;
  }
}
