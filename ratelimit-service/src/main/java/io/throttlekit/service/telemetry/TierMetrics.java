package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.service.telemetry.OurCounters.ByWord;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.TierListener;

/**
 * Metrics of leases, and of what decided.
 *
 * <p>Counting increments counters in memory without allocation; instruments read them at every
 * collection. No label comes from a request. Create once. Thread-safe.
 */
final class TierMetrics implements TierListener {
  /** How much of the requested units a lease granted. */
  private enum Granted {
    WHOLE,
    PART,
    NONE
  }

  private final ByWord<Metric> counts;
  private final ByWord<Granted> leases;
  private final ByWord<DecidedBy> charges;
  private final ByWord<Outage> outages;

  /** Registers the instruments. */
  TierMetrics(Meter meter) {
    OurCounters ours = new OurCounters(meter);
    counts = ours.counters(Metric.LEASE_REQUESTED_UNITS, Metric.LEASE_SUSPENSIONS);
    leases =
        ours.counters("throttlekit_leases", "Leases that were answered", "granted", Granted.class);
    charges =
        ours.counters(
            "throttlekit_charges", "Charges, by what decided them", "by", DecidedBy.class);
    outages =
        ours.counters(
            "throttlekit_outage_decisions",
            "Decisions by on_outage while the store did not answer",
            "on_outage",
            Outage.class);
  }

  /**
   * Counts a lease that was answered.
   *
   * @param requested units, from 1
   * @param granted units, from 0 to {@code requested}
   */
  @Override
  public void leased(long requested, long granted) {
    leases.increment(
        granted >= requested ? Granted.WHOLE : granted > 0 ? Granted.PART : Granted.NONE);
    counts.add(Metric.LEASE_REQUESTED_UNITS, requested);
    counts.add(Metric.LEASE_GRANTED_UNITS, granted);
  }

  /** Counts a lease that failed or timed out. */
  @Override
  public void leaseFailed() {
    counts.increment(Metric.LEASE_FAILURES);
  }

  /** Counts a request that waits for a lease already requested. */
  @Override
  public void waiterJoined() {
    counts.increment(Metric.LEASE_WAITERS);
  }

  /** Counts a lease that is requested before its units are needed. */
  @Override
  public void refillAhead() {
    counts.increment(Metric.LEASE_REFILLS_AHEAD);
  }

  /** Counts units returned to the store. */
  @Override
  public void unitsReturned(long units) {
    counts.add(Metric.LEASE_RETURNED_UNITS, units);
  }

  /** Counts units left over at the end of their window. */
  @Override
  public void forfeited(long units) {
    counts.add(Metric.LEASE_FORFEITED_UNITS, units);
  }

  /** Counts a lease whose units arrived too late to be spent. */
  @Override
  public void lateGrant(long units) {
    counts.increment(Metric.LEASE_LATE_GRANTS);
    counts.add(Metric.LEASE_LATE_UNITS, units);
  }

  /** Counts a counter whose units were returned because there was no room for it. */
  @Override
  public void evicted() {
    counts.increment(Metric.LEASE_EVICTED_CELLS);
  }

  /** Counts a suspension of this process, after which all leases are returned. */
  @Override
  public void suspended() {
    counts.increment(Metric.LEASE_SUSPENSIONS);
  }

  /** Counts a charge by what decided it. */
  @Override
  public void decided(DecidedBy by) {
    charges.increment(by);
  }

  /** Counts a request that was decided by {@code on_outage} instead of the store. */
  @Override
  public void outage(Outage kind) {
    outages.increment(kind);
  }
}
