package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.tier.DecidedBy;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.TierListener;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what is leased, and who decided.
 *
 * <p>Counting adds to counters in memory, without allocating; instruments read them when somebody
 * collects. No label comes from a request. To be made once. Thread-safe.
 */
public final class TierMetrics implements TierListener {
  private static final String LEASE = "throttlekit_lease_";

  /** How much of what was wanted a lease brought. */
  private enum Granted {
    WHOLE,
    PART,
    NONE
  }

  private final OurCounters.ByWord<Granted> leases;
  private final LongAdder wantedUnits;
  private final LongAdder grantedUnits;
  private final LongAdder failures;
  private final LongAdder riders;
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
    wantedUnits = ours.counter(LEASE + "wanted_units", "Units that those leases asked for");
    grantedUnits = ours.counter(LEASE + "granted_units", "Units that they brought");
    failures = ours.counter(LEASE + "failures", "Leases that got no answer in time");
    riders = ours.counter(LEASE + "riders", "Requests that waited for a lease of another");
    refillsAhead = ours.counter(LEASE + "refills_ahead", "Leases asked for ahead of need");
    returnedUnits = ours.counter(LEASE + "given_back_units", "Units given back to the store");
    forfeitedUnits =
        ours.counter(LEASE + "forfeited_units", "Units left over when their window ended");
    lateGrants = ours.counter(LEASE + "late_grants", "Leases that came too late to be spent");
    lateUnits = ours.counter(LEASE + "late_units", "Units that those leases had brought");
    evictedCells =
        ours.counter(
            LEASE + "evicted_cells", "Counters whose units were given back for want of room");
    suspensions =
        ours.counter(
            LEASE + "suspensions", "Times this process was suspended and gave back its leases");
    charges =
        ours.counters("throttlekit_charges", "Charges, by who decided them", "by", DecidedBy.class);
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
   * @param granted units, from 0 to what was wanted
   */
  @Override
  public void leased(long wanted, long granted) {
    leases.increment(granted >= wanted ? Granted.WHOLE : granted > 0 ? Granted.PART : Granted.NONE);
    wantedUnits.add(wanted);
    grantedUnits.add(granted);
  }

  /** Counts a lease that failed, or was not answered in time. */
  @Override
  public void leaseFailed() {
    failures.increment();
  }

  /** Counts a request that waits for a lease which was asked for already. */
  @Override
  public void rider() {
    riders.increment();
  }

  /** Counts a lease that is asked for ahead of need. */
  @Override
  public void refillAhead() {
    refillsAhead.increment();
  }

  /** Counts units that go back to the store. */
  @Override
  public void gaveBack(long units) {
    returnedUnits.add(units);
  }

  /** Counts units that were left over when their window ended. */
  @Override
  public void forfeited(long units) {
    forfeitedUnits.add(units);
  }

  /** Counts a lease whose units came too late to be spent. */
  @Override
  public void lateGrant(long units) {
    lateGrants.increment();
    lateUnits.add(units);
  }

  /** Counts a counter whose units this process could not keep for want of room. */
  @Override
  public void evicted() {
    evictedCells.increment();
  }

  /** Counts a suspension of this process, after which all leases are given back. */
  @Override
  public void suspended() {
    suspensions.increment();
  }

  /** Counts a charge by who decided it. */
  @Override
  public void decided(DecidedBy by) {
    charges.increment(by);
  }

  /** Counts a request that a rule answered for the store. */
  @Override
  public void outage(Outage kind) {
    outages.increment(kind);
  }
}
