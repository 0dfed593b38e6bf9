package io.throttlekit.service.sensor;

import io.throttlekit.service.concurrency.Ending;
import io.throttlekit.service.concurrency.Leases;

/**
 * Ends the leases of requests that were logged, where their rules say {@code release: access_log}.
 * Thread-safe.
 */
public final class LoggedEnds implements Sensed {
  private final Leases leases;

  /** Ends those of {@code leases}. */
  public LoggedEnds(Leases leases) {
    this.leases = leases;
  }

  @Override
  public void ended(String node, Reading reading, long beganNanos, long arrivedNanos) {
    if (!reading.leases().isEmpty()) {
      Ending ending = reading.ending();
      reading.leases().forEach(lease -> leases.logged(lease, ending));
    }
  }

  @Override
  public void reported(String node, Load load, long arrivedNanos) {}

  @Override
  public void left(String node) {}
}
