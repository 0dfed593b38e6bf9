package io.throttlekit.service.steering;

import java.util.concurrent.TimeUnit;

/**
 * A sum of what came in the last whole seconds and in the one that has begun. Monotonic ns; a time
 * before the last one counts as that. Called by one thread at a time.
 */
final class LastSeconds {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final double[] sums;
  private long beganNanos;
  private int current;
  private long whole;

  /**
   * Nothing has come.
   *
   * @param seconds whole ones that are remembered, from 1
   */
  LastSeconds(int seconds, long nowNanos) {
    sums = new double[seconds + 1];
    beganNanos = nowNanos;
  }

  /** Adds what comes now. */
  void add(double amount, long nowNanos) {
    roll(nowNanos);
    sums[current] += amount;
  }

  /** What came in the seconds remembered, the one that has begun included. */
  double sum(long nowNanos) {
    roll(nowNanos);
    double sum = 0;
    for (double second : sums) {
      sum += second;
    }
    return sum;
  }

  /** What came in whole seconds of which the newest ended at least {@code newer} seconds ago. */
  double sumBefore(int newer, long nowNanos) {
    roll(nowNanos);
    double sum = 0;
    for (int back = newer + 1; back < sums.length; back++) {
      sum += sums[Math.floorMod(current - back, sums.length)];
    }
    return sum;
  }

  /** How much came for each ns of the time that is remembered. */
  double perNano(long nowNanos) {
    double sum = sum(nowNanos);
    long span = whole * SECOND + Math.max(0, nowNanos - beganNanos);
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
