package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.concurrency.Refusal;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.concurrency.LeaseEnd;
import java.util.concurrent.atomic.LongAdder;

/**
 * Metrics of the concurrency limits and their leases.
 *
 * <p>No label comes from a request. Create once. Thread-safe.
 */
public final class ConcurrencyMetrics implements ConcurrencyListener {
  private static final String PREFIX = "throttlekit_concurrency_";

  private final Meter meter;
  private final OurCounters.ByWord<Refusal> refusals;
  private final OurCounters.ByWord<LeaseEnd> ends;
  private final LongAdder noRoom;
  private final LongAdder leases;
  private final LongAdder stale;

  /** Registers the counters. */
  public ConcurrencyMetrics(Meter meter) {
    this.meter = meter;
    OurCounters ours = new OurCounters(meter);
    refusals =
        ours.counters(
            PREFIX + "refused",
            "Requests that found no room below a concurrency limit",
            "why",
            Refusal.class);
    noRoom =
        ours.counter(
            PREFIX + "refused_without_lease", "Requests refused because there are too many leases");
    leases = ours.counter(PREFIX + "leases", "Leases given");
    ends = ours.counters(PREFIX + "released", "Leases that ended", "by", LeaseEnd.class);
    stale =
        ours.counter(
            PREFIX + "stale_releases", "Releases of a lease that was over, or that never was");
  }

  /** Registers the gauges, which read {@code gate} at every collection. */
  public void show(ConcurrencyLimiter gate) {
    LimitGauges.show(meter, gate.limits()::forEach);
    new OurCounters(meter)
        .gauge(PREFIX + "live_leases", "Leases that have not ended", gate.leases()::size);
  }

  @Override
  public void refused(Refusal why) {
    refusals.increment(why);
  }

  @Override
  public void noRoomForLeases() {
    noRoom.increment();
  }

  @Override
  public void leased() {
    leases.increment();
  }

  @Override
  public void ended(LeaseEnd how) {
    ends.increment(how);
  }

  @Override
  public void stale() {
    stale.increment();
  }
}
