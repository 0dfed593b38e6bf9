package io.throttlekit.simulator.concurrency;

import io.throttlekit.concurrency.Sample;

/**
 * A limiter that counts every request itself and applies a new limit at once, as one in the same
 * process.
 */
final class InProcessLimiter implements SimulatedLimiter {
  private final SimulatedAlgorithm law;

  InProcessLimiter(SimulatedAlgorithm law) {
    this.law = law;
  }

  @Override
  public int ceiling() {
    return law.ceiling();
  }

  @Override
  public void refused(long nowNanos) {
    law.refused(nowNanos, 1);
  }

  @Override
  public void ended(
      long startNanos, long nowNanos, int inFlightThen, int inFlightNow, boolean dropped) {
    boolean full = inFlightNow >= law.ceiling();
    long rttNanos = nowNanos - startNanos;
    law.learn(new Sample(startNanos, rttNanos, nowNanos, inFlightThen, full, dropped));
  }

  @Override
  public long next() {
    return Long.MAX_VALUE;
  }

  @Override
  public void wake() {}
}
