package io.throttlekit.service.concurrency.envoy;

import io.throttlekit.service.concurrency.Ending;
import io.throttlekit.service.concurrency.RequestPermits;
import io.throttlekit.service.concurrency.envoy.Timeouts.Evidence;
import io.throttlekit.service.concurrency.sensors.OutcomeListener;
import io.throttlekit.service.concurrency.sensors.Reading;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;

/**
 * Releases the permits of logged requests whose rules have {@code release: access_log}.
 *
 * <p>A timeout lowers a limit only when {@link Timeouts} finds overload on all routes and clients:
 * a cluster may have permits of several rules, so there is no single limit that partial evidence
 * could halve, as with {@code gate: envoy}. Thread-safe; entries of one cluster are serialized,
 * those of different clusters are not.
 */
public final class AccessLogReleases implements OutcomeListener {
  /** Maximum of tracked clusters, more than one Envoy has; all others are judged as one cluster. */
  private static final int MAX_CLUSTERS = 1_000;

  /** Longest cluster name that is tracked, which bounds the table's memory. */
  private static final int MAX_CLUSTER = 256;

  private final RequestPermits permits;

  /** Per cluster; each is guarded by its own monitor. */
  private final ConcurrentMap<String, Timeouts> timeouts = new ConcurrentHashMap<>();

  /** Creates a listener that releases {@code permits}. */
  public AccessLogReleases(RequestPermits permits) {
    this.permits = permits;
  }

  @Override
  public void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
    // Unknown ids are no evidence: a log that names thousands must not fill the table of
    // clusters.
    if (reading.permits().stream().anyMatch(permits::awaitsLog)) {
      Ending ending = ending(reading, arrivedNanos);
      reading.permits().forEach(id -> permits.logged(id, ending));
    }
  }

  private Ending ending(Reading reading, long nowNanos) {
    Timeouts of = timeouts(reading.cluster());
    Evidence evidence;
    synchronized (of) {
      of.ended(reading, nowNanos);
      evidence = reading.kind().isDrop() ? of.evidence(nowNanos) : Evidence.WHOLE;
    }
    return evidence == Evidence.WHOLE ? reading.ending() : Ending.Plain.UNKNOWN;
  }

  private Timeouts timeouts(String cluster) {
    // First without computeIfAbsent, which may lock.
    Timeouts known = timeouts.get(cluster);
    if (known != null) {
      return known;
    }
    boolean room = timeouts.size() < MAX_CLUSTERS && cluster.length() <= MAX_CLUSTER;
    return timeouts.computeIfAbsent(room ? cluster : "", _ -> new Timeouts());
  }
}
