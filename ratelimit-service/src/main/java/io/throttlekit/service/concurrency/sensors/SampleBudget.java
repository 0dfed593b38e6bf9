package io.throttlekit.service.concurrency.sensors;

import java.util.concurrent.TimeUnit;

/** Budget of samples per second. For one thread. */
final class SampleBudget {
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

  private final int perSecond;
  private boolean began;
  private long secondNanos;
  private int spent;

  /**
   * @param perSecond from 1
   */
  SampleBudget(int perSecond) {
    this.perSecond = perSecond;
  }

  /** Takes one sample from the budget and returns whether there was one left. */
  boolean spend(long nowNanos) {
    if (!began || nowNanos - secondNanos >= SECOND) {
      began = true;
      secondNanos = nowNanos;
      spent = 0;
    }
    if (spent == perSecond) {
      return false;
    }
    spent++;
    return true;
  }
}
