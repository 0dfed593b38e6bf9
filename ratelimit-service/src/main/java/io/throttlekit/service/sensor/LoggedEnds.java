package io.throttlekit.service.sensor;

import io.throttlekit.service.concurrency.Ending;
import io.throttlekit.service.concurrency.Leases;
import io.throttlekit.service.sensor.Timeouts.Evidence;
import java.util.HashMap;
import java.util.Map;

/**
 * Ends the leases of requests that were logged, where their rules say {@code release: access_log}.
 * A timeout lowers a limit only where it is evidence of overload by {@link Timeouts}. Thread-safe.
 */
public final class LoggedEnds implements Sensed {
  /** More clusters than one Envoy has; a log that names others is judged as one cluster. */
  private static final int MAX_CLUSTERS = 1_000;

  private final Leases leases;

  /** By cluster; guarded by itself. */
  private final Map<String, Timeouts> timeouts = new HashMap<>();

  /** Ends those of {@code leases}. */
  public LoggedEnds(Leases leases) {
    this.leases = leases;
  }

  @Override
  public void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
    if (!reading.leases().isEmpty()) {
      Ending ending = ending(reading, arrivedNanos);
      reading.leases().forEach(lease -> leases.logged(lease, ending));
    }
  }

  private Ending ending(Reading reading, long nowNanos) {
    Evidence evidence;
    synchronized (timeouts) {
      boolean known = timeouts.containsKey(reading.cluster()) || timeouts.size() < MAX_CLUSTERS;
      Timeouts of = timeouts.computeIfAbsent(known ? reading.cluster() : "", _ -> new Timeouts());
      of.ended(reading, nowNanos);
      evidence = reading.kind().isDrop() ? of.evidence(nowNanos) : Evidence.WHOLE;
    }
    return evidence == Evidence.WHOLE ? reading.ending() : Ending.Plain.UNTOLD;
  }

  @Override
  public void reported(String node, long stream, Load load, long arrivedNanos) {}

  @Override
  public void left(String node, long stream) {}
}
