package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.federation.FederationListener;
import io.throttlekit.federation.Loss;
import io.throttlekit.service.telemetry.OurCounters.ByWord;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Metrics of the leases of a region from the global budget. Logs each distinct disagreement between
 * regions and each distinct failure of a store once.
 *
 * <p>No label comes from a request. Create once. Thread-safe.
 */
public final class FederationMetrics implements FederationListener {
  private static final Logger LOG = LoggerFactory.getLogger(FederationMetrics.class);
  private static final String PREFIX = "throttlekit_federation_";
  // bounds memory and the log if every message differs
  private static final int MAX_LOGGED = 100;

  private final LongAdder escrowLeases;
  private final LongAdder escrowUnits;
  private final LongAdder escrowFailures;
  private final LongAdder refilledUnits;
  private final LongAdder coordinatorLeases;
  private final LongAdder coordinatorUnits;
  private final LongAdder coordinatorFailures;
  private final LongAdder notCalled;
  private final LongAdder returns;
  private final LongAdder returnedUnits;
  private final ByWord<Loss> lostUnits;
  private final LongAdder mismatches;
  private final Set<String> loggedMismatches = ConcurrentHashMap.newKeySet();
  private final Set<String> loggedFailures = ConcurrentHashMap.newKeySet();
  private volatile boolean answers = true;

  /** Registers the instruments. */
  public FederationMetrics(Meter meter) {
    OurCounters ours = new OurCounters(meter);
    escrowLeases =
        ours.counter(PREFIX + "escrow_leases", "Leases requested from the region's store");
    escrowUnits = ours.counter(PREFIX + "escrow_units", "Units granted for them");
    escrowFailures =
        ours.counter(PREFIX + "escrow_failures", "Calls that the region's store did not answer");
    refilledUnits =
        ours.counter(PREFIX + "refilled_units", "Units put into the region's store for others");
    coordinatorLeases =
        ours.counter(PREFIX + "coordinator_leases", "Leases that the coordinator answered");
    coordinatorUnits = ours.counter(PREFIX + "coordinator_units", "Units granted for them");
    coordinatorFailures =
        ours.counter(PREFIX + "coordinator_failures", "Leases that the coordinator did not answer");
    notCalled =
        ours.counter(
            PREFIX + "not_called",
            "Leases not requested while only probes are sent to the coordinator");
    returns = ours.counter(PREFIX + "returns", "Returns of units to the coordinator");
    returnedUnits = ours.counter(PREFIX + "returned_units", "Units that it took back");
    lostUnits =
        ours.counters(
            PREFIX + "lost_units", "Units that may have been lost, by where", "where", Loss.class);
    mismatches =
        ours.counter(PREFIX + "mismatches", "Leases refused because the limits of regions differ");
    meter
        .gaugeBuilder(PREFIX + "coordinator_answers")
        .ofLongs()
        .setDescription("1 while the coordinator answers this process's leases, else 0")
        .buildWithCallback(measured -> measured.record(answers ? 1 : 0));
  }

  @Override
  public void leasedFromEscrow(long wanted, long granted) {
    escrowLeases.increment();
    escrowUnits.add(granted);
  }

  @Override
  public void escrowFailed(String failureReason) {
    escrowFailures.increment();
    if (isNew(failureReason, loggedFailures)) {
      LOG.warn("a call to the region's store failed: {}", failureReason);
    }
  }

  @Override
  public void refilled(long units) {
    refilledUnits.add(units);
  }

  @Override
  public void leasedFromCoordinator(long wanted, long granted) {
    coordinatorLeases.increment();
    coordinatorUnits.add(granted);
  }

  @Override
  public void coordinatorFailed(String failureReason) {
    coordinatorFailures.increment();
  }

  @Override
  public void coordinatorBreakerOpen() {
    notCalled.increment();
  }

  @Override
  public void coordinatorAnswers(boolean now) {
    answers = now;
  }

  @Override
  public void returned(long units, boolean taken) {
    returns.increment();
    returnedUnits.add(taken ? units : 0);
  }

  @Override
  public void lost(Loss where, long units) {
    lostUnits.add(where, units);
  }

  @Override
  public void mismatch(String inWords) {
    mismatches.increment();
    if (isNew(inWords, loggedMismatches)) {
      LOG.error("regions do not share the same limits: {}", inWords);
    }
  }

  private static boolean isNew(String words, Set<String> logged) {
    return logged.size() < MAX_LOGGED && logged.add(words);
  }
}
