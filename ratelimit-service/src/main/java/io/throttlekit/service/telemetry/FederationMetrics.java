package io.throttlekit.service.telemetry;

import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.federation.FederationListener;
import io.throttlekit.federation.Loss;
import io.throttlekit.service.telemetry.OurCounters.ByWord;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Metrics of the leases of a region from the global budget. Logs each distinct disagreement between
 * regions and each distinct failure of a store once.
 *
 * <p>No label comes from a request. Create once. Thread-safe.
 */
final class FederationMetrics implements FederationListener {
  private static final Logger LOG = LoggerFactory.getLogger(FederationMetrics.class);
  private static final String PREFIX = "throttlekit_federation_";
  // bounds memory and the log if every message differs
  private static final int MAX_LOGGED = 100;

  private final ByWord<Metric> counts;
  private final ByWord<Loss> lostUnits;
  private final Set<String> loggedMismatches = ConcurrentHashMap.newKeySet();
  private final Set<String> loggedFailures = ConcurrentHashMap.newKeySet();
  private volatile boolean answers = true;

  /** Registers the instruments. */
  FederationMetrics(Meter meter) {
    OurCounters ours = new OurCounters(meter);
    counts = ours.counters(Metric.FEDERATION_ESCROW_LEASES, Metric.FEDERATION_MISMATCHES);
    lostUnits =
        ours.counters(
            PREFIX + "lost_units",
            "Units that may have been lost, by where",
            "operation",
            Loss.class);
    ours.gauge(
        PREFIX + "coordinator_answers",
        "1 while the coordinator answers this process's leases, else 0",
        () -> answers ? 1 : 0);
  }

  @Override
  public void leasedFromEscrow(long requested, long granted) {
    counts.increment(Metric.FEDERATION_ESCROW_LEASES);
    counts.add(Metric.FEDERATION_ESCROW_UNITS, granted);
  }

  @Override
  public void escrowFailed(String failureReason) {
    counts.increment(Metric.FEDERATION_ESCROW_FAILURES);
    if (isNew(failureReason, loggedFailures)) {
      LOG.warn("a call to the region's store failed: {}", failureReason);
    }
  }

  @Override
  public void refilled(long units) {
    counts.add(Metric.FEDERATION_REFILLED_UNITS, units);
  }

  @Override
  public void leasedFromCoordinator(long requested, long granted) {
    counts.increment(Metric.FEDERATION_COORDINATOR_LEASES);
    counts.add(Metric.FEDERATION_COORDINATOR_UNITS, granted);
  }

  @Override
  public void coordinatorFailed(String failureReason) {
    counts.increment(Metric.FEDERATION_COORDINATOR_FAILURES);
  }

  @Override
  public void coordinatorBreakerOpen() {
    counts.increment(Metric.FEDERATION_NOT_CALLED);
  }

  @Override
  public void coordinatorAnswers(boolean now) {
    answers = now;
  }

  @Override
  public void returned(long units, boolean taken) {
    counts.increment(Metric.FEDERATION_RETURNS);
    counts.add(Metric.FEDERATION_RETURNED_UNITS, taken ? units : 0);
  }

  @Override
  public void lost(Loss where, long units) {
    lostUnits.add(where, units);
  }

  @Override
  public void mismatch(String message) {
    counts.increment(Metric.FEDERATION_MISMATCHES);
    if (isNew(message, loggedMismatches)) {
      LOG.error("regions do not share the same limits: {}", message);
    }
  }

  private static boolean isNew(String message, Set<String> logged) {
    return logged.size() < MAX_LOGGED && logged.add(message);
  }
}
