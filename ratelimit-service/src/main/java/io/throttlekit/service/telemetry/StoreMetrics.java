package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.DoubleHistogram;
import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.service.store.StoreListeners.BackendListener;
import io.throttlekit.service.telemetry.statsd.RedisPoolStatistics;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/**
 * Metrics of the calls from this process to an external store.
 *
 * <p>Counting increments counters in memory, which instruments read at every collection. No label
 * comes from a request. Create once, and only if there is such a store. Thread-safe.
 */
final class StoreMetrics implements BackendListener {
  private static final double NANOS_PER_SECOND = 1e9;

  /** Finest in the range of round trips within a region. */
  private static final List<Double> ROUND_TRIP_SECONDS =
      List.of(
          .000_1, .000_2, .000_3, .000_5, .000_75, .001, .001_5, .002, .003, .005, .01, .025, .05,
          .1, .25, .5, 1.0, 2.5);

  /** Reason why a call got no answer. */
  private enum NoAnswer {
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
  private final Meter meter;
  private final @Nullable RedisPoolStatistics pool;
  private final AtomicBoolean showsPool = new AtomicBoolean();
  private volatile boolean answers;
  private volatile boolean breakerOpen;

  /**
   * Registers the instruments of an external store.
   *
   * @param role {@code store} for a region's store, {@code per_second_store} for its second Redis,
   *     {@code coordinator} for that of all regions
   * @param pool counts connections to it; absent if that program has none
   */
  StoreMetrics(Meter meter, String role, @Nullable RedisPoolStatistics pool) {
    this.meter = meter;
    this.pool = pool;
    String prefix = "throttlekit_" + role + '_';
    String what = role.replace("per_second", "per-second").replace('_', ' ');
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
    ours.gauge(prefix + "up", "1 while the " + what + " answers, else 0", () -> answers ? 1 : 0);
    ours.gauge(
        prefix + "breaker_open",
        "1 while only probes are sent to the " + what + ", else 0",
        () -> breakerOpen ? 1 : 0);
  }

  @Override
  public void roundTrip(int carried, long nanos) {
    roundTrips.increment();
    requests.add(carried);
    roundTripTime.record(nanos / NANOS_PER_SECOND);
  }

  @Override
  public void failed(int calls, Failure kind, String cause) {
    NoAnswer reason =
        switch (kind) {
          case DEADLINE, LEASE_DEADLINE -> NoAnswer.TIMEOUT;
          case CONNECTION, ERROR -> NoAnswer.ERROR;
          case OPEN -> NoAnswer.BREAKER_OPEN;
        };
    failures.add(reason, calls);
  }

  @Override
  public void dataLost(long lossMillis) {
    dataLosses.increment();
  }

  @Override
  public void connected() {
    if (pool != null) {
      pool.opened();
      if (showsPool.compareAndSet(false, true)) { // only Redis reports its connections
        showPool(pool);
      }
    }
  }

  @Override
  public void disconnected() {
    if (pool != null) {
      pool.closed();
    }
  }

  private void showPool(RedisPoolStatistics shown) {
    OurCounters ours = new OurCounters(meter);
    String prefix = "ratelimit_" + shown.name() + "_cx_";
    ours.gauge(prefix + "active", "", shown::active);
    ours.counter(prefix + "total", "", shown::total);
    ours.counter(prefix + "local_close", "", shown::closedTotal);
  }

  @Override
  public void answers(boolean now) {
    answers = now;
  }

  @Override
  public void up() {
    breakerOpen = false;
  }

  @Override
  public void down() {
    breakerOpen = true;
  }
}
