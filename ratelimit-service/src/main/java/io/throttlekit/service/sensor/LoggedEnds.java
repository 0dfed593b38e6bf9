package io.throttlekit.service.sensor;

import io.throttlekit.service.concurrency.Ending;
import io.throttlekit.service.concurrency.Leases;
import io.throttlekit.service.sensor.Timeouts.Evidence;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Ends the leases of requests that were logged, where their rules say {@code release: access_log}.
 * A timeout lowers a limit only where it is evidence of overload of all routes and clients by
 * {@link Timeouts}: a cluster may have leases of several rules, so there is no one limit of which
 * partial evidence could take a half, as with {@code gate: envoy}. Thread-safe; entries of one
 * cluster wait for each other, and for no other cluster's.
 */
public final class LoggedEnds implements Sensed {
  /** More clusters than one Envoy has; a log that names others is judged as one cluster. */
  private static final int MAX_CLUSTERS = 1_000;

  private static final int LONGEST_CLUSTER = 256;

  private final Leases leases;

  /** By cluster; each guarded by itself. */
  private final ConcurrentMap<String, Timeouts> timeouts = new ConcurrentHashMap<>();

  /** Ends those of {@code leases}. */
  public LoggedEnds(Leases leases) {
    this.leases = leases;
  }

  @Override
  public void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
    // Invented leases are no evidence: a log that names thousands must not fill the table of
    // clusters.
    if (reading.leases().stream().anyMatch(leases::awaitsLog)) {
      Ending ending = ending(reading, arrivedNanos);
      reading.leases().forEach(lease -> leases.logged(lease, ending));
    }
  }

  private Ending ending(Reading reading, long nowNanos) {
    Timeouts of = timeouts(reading.cluster());
    Evidence evidence;
    synchronized (of) {
      of.ended(reading, nowNanos);
      evidence = reading.kind().isDrop() ? of.evidence(nowNanos) : Evidence.WHOLE;
    }
    return evidence == Evidence.WHOLE ? reading.ending() : Ending.Plain.UNTOLD;
  }

  private Timeouts timeouts(String cluster) {
    Timeouts known = timeouts.get(cluster);
    if (known != null) {
      return known;
    }
    boolean room = timeouts.size() < MAX_CLUSTERS && cluster.length() <= LONGEST_CLUSTER;
    return timeouts.computeIfAbsent(room ? cluster : "", _ -> new Timeouts());
  }

  @Override
  public void reported(String node, long stream, Load load, long arrivedNanos) {}

  @Override
  public void left(String node, long stream) {}
}
