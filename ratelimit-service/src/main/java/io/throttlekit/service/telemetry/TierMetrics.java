package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.TierListener;
import java.util.concurrent.atomic.LongAdder;

/**
 * Metrics of leases, and of what decided.
 *
 * <p>Counting increments counters in memory without allocation; instruments read them at every
 * collection. No label comes from a request. Create once. Thread-safe.
 */
public final class TierMetrics implements TierListener {
  private static final String LEASE = "throttlekit_lease_";

  /** How much of the wanted units a lease granted. */
  private enum Granted {
    WHOLE,
    PART,
    NONE
  }

  private final OurCounters.ByWord<Granted> leases;
  private final LongAdder requestedUnits;
  private final LongAdder grantedUnits;
  private final LongAdder failures;
  private final LongAdder waiters;
  private final LongAdder refillsAhead;
  private final LongAdder returnedUnits;
  private final LongAdder forfeitedUnits;
  private final LongAdder lateGrants;
  private final LongAdder lateUnits;
  private final LongAdder evictedCells;
  private final LongAdder suspensions;
  private final OurCounters.ByWord<DecidedBy> charges;
  private final OurCounters.ByWord<Outage> outages;

  /** Registers the instruments. */
  public TierMetrics(Meter meter) {
    OurCounters ours = new OurCounters(meter);
    leases =
        ours.counters("throttlekit_leases", "Leases that were answered", "granted", Granted.class);
    requestedUnits = ours.counter(LEASE + "requested_units", "Units that those leases requested");
    grantedUnits = ours.counter(LEASE + "granted_units", "Units granted for them");
    failures = ours.counter(LEASE + "failures", "Leases that got no answer in time");
    waiters =
        ours.counter(LEASE + "waiters", "Requests that waited for a lease that another requested");
    refillsAhead = ours.counter(LEASE + "refills_ahead", "Leases requested ahead of need");
    returnedUnits = ours.counter(LEASE + "returned_units", "Units returned to the store");
    forfeitedUnits =
        ours.counter(LEASE + "forfeited_units", "Units left over when their window ended");
    lateGrants = ours.counter(LEASE + "late_grants", "Leases granted too late to be spent");
    lateUnits = ours.counter(LEASE + "late_units", "Units granted for those leases");
    evictedCells =
        ours.counter(
            LEASE + "evicted_cells",
            "Counters whose units were returned because there were too many");
    suspensions =
        ours.counter(
            LEASE + "suspensions", "Times this process was suspended and returned its leases");
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
   * @param wanted units, from 1
   * @param granted units, from 0 to {@code wanted}
   */
  @Override
  public void leased(long wanted, long granted) {
    leases.increment(granted >= wanted ? Granted.WHOLE : granted > 0 ? Granted.PART : Granted.NONE);
    requestedUnits.add(wanted);
    grantedUnits.add(granted);
  }

  /** Counts a lease that failed or timed out. */
  @Override
  public void leaseFailed() {
    failures.increment();
  }

  /** Counts a request that waits for a lease already requested. */
  @Override
  public void rider() {
    waiters.increment();
  }

  /** Counts a lease that is requested before its units are needed. */
  @Override
  public void refillAhead() {
    refillsAhead.increment();
  }

  /** Counts units returned to the store. */
  @Override
  public void unitsReturned(long units) {
    returnedUnits.add(units);
  }

  /** Counts units left over at the end of their window. */
  @Override
  public void forfeited(long units) {
    forfeitedUnits.add(units);
  }

  /** Counts a lease whose units arrived too late to be spent. */
  @Override
  public void lateGrant(long units) {
    lateGrants.increment();
    lateUnits.add(units);
  }

  /** Counts a counter whose units were returned because there was no room for it. */
  @Override
  public void evicted() {
    evictedCells.increment();
  }

  /** Counts a suspension of this process, after which all leases are returned. */
  @Override
  public void suspended() {
    suspensions.increment();
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
