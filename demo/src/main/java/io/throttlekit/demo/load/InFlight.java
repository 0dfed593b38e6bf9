package io.throttlekit.demo.load;

/**
 * Counts the requests that an upstream has received and not yet answered, without those whose
 * client has left.
 *
 * <p>Thread-safe.
 */
public final class InFlight {
  private int now;
  private int max;

  synchronized void begin() {
    now++;
    max = Math.max(max, now);
  }

  synchronized void end() {
    now--;
  }

  /** Returns the count. */
  public synchronized int now() {
    return now;
  }

  /** Returns the highest count since the last {@link #takeMax}, or since the start. */
  public synchronized int max() {
    return max;
  }

  /** Returns the highest count since the last call, or since the start. */
  public synchronized int takeMax() {
    int highest = max;
    max = now;
    return highest;
  }
}
