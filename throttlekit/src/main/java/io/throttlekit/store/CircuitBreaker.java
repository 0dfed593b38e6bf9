package io.throttlekit.store;

import io.throttlekit.TimeSource;
import java.util.concurrent.TimeUnit;

/**
 * Spares callers the wait for something that does not answer.
 *
 * <p>Closed, it lets every call pass. After so many failures in a row it opens: calls are to fail
 * at once, but for one in each interval, which probes. An answer, whoever gets it, closes it. So
 * recovery needs no restart, and while there is none, only probes are sent.
 *
 * <p>Thread-safe. Never blocks, and takes no lock while it is closed and calls succeed.
 */
public final class CircuitBreaker {
  private final TimeSource time;
  private final int failuresToOpen;
  private final long probeEveryNanos;

  private volatile boolean open;
  private volatile int failures;
  private long nextProbeNanos;

  /**
   * A closed breaker.
   *
   * @param failuresToOpen failures in a row that open it, from 1
   * @param probeEveryMillis how long it waits from opening to the first probe, and from each probe
   *     to the next, in ms, from 1
   * @throws IllegalArgumentException when a number is out of range
   */
  public CircuitBreaker(TimeSource time, int failuresToOpen, long probeEveryMillis) {
    if (failuresToOpen < 1 || probeEveryMillis < 1) {
      throw new IllegalArgumentException(
          "failuresToOpen and probeEveryMillis must be at least 1, were "
              + failuresToOpen
              + " and "
              + probeEveryMillis);
    }
    this.time = time;
    this.failuresToOpen = failuresToOpen;
    this.probeEveryNanos = TimeUnit.MILLISECONDS.toNanos(probeEveryMillis);
  }

  /** Whether a call may pass now; while open, true for one caller in each interval. */
  public boolean allows() {
    return !open || isProbe();
  }

  /** Whether calls other than probes are to fail at once. */
  public boolean isOpen() {
    return open;
  }

  /** Tells of an answer; true when it closed the breaker. */
  public boolean succeeded() {
    if (failures == 0 && !open) {
      return false;
    }
    return close();
  }

  /** Tells of a failure; true when it opened the breaker. */
  public synchronized boolean failed() {
    if (open) {
      return false;
    }
    int inARow = failures + 1;
    failures = inARow;
    if (inARow < failuresToOpen) {
      return false;
    }
    nextProbeNanos = time.monotonicNanos() + probeEveryNanos;
    open = true;
    return true;
  }

  private synchronized boolean close() {
    boolean closed = open;
    failures = 0;
    open = false;
    return closed;
  }

  private synchronized boolean isProbe() {
    long now = time.monotonicNanos();
    if (now - nextProbeNanos < 0) {
      return !open;
    }
    nextProbeNanos = now + probeEveryNanos;
    return true;
  }
}
