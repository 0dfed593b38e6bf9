package io.throttlekit.service.concurrency.envoy;

import java.util.concurrent.TimeUnit;

/**
 * A sum over the last whole seconds and the current one. Times are monotonic ns; a time earlier
 * than the previous call's counts as that. Called by one thread at a time.
 */
final class LastSeconds {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final double[] sums;
  private long beganNanos;
  private int current;
  private long whole;

  /**
   * Creates an empty sum.
   *
   * @param seconds whole seconds to keep, from 1
   */
  LastSeconds(int seconds, long nowNanos) {
    sums = new double[seconds + 1];
    beganNanos = nowNanos;
  }

  /** Adds an amount to the current second. */
  void add(double amount, long nowNanos) {
    roll(nowNanos);
    sums[current] += amount;
  }

  /** Returns the sum of the kept seconds and the current one. */
  double sum(long nowNanos) {
    return sumBefore(-1, nowNanos);
  }

  /** Returns the sum of the whole seconds that ended at least {@code newer} seconds ago. */
  double sumBefore(int newer, long nowNanos) {
    roll(nowNanos);
    double sum = 0;
    for (int back = newer + 1; back < sums.length; back++) {
      sum += sums[Math.floorMod(current - back, sums.length)];
    }
    return sum;
  }

  /** Returns the average per ns over the kept time. */
  double perNano(long nowNanos) {
    double sum = sum(nowNanos);
    long span = whole * SECOND + Math.max(0, nowNanos - beganNanos);
    // a shorter span would blow up the first entries
    return sum / Math.max(span, SECOND);
  }

  private void roll(long nowNanos) {
    long passed = Math.max(0, (nowNanos - beganNanos) / SECOND);
    for (long i = 0; i < Math.min(passed, sums.length); i++) {
      current = (current + 1) % sums.length;
      sums[current] = 0;
    }
    beganNanos += passed * SECOND;
    whole = Math.min(sums.length - 1, whole + passed);
  }
}
