package io.throttlekit.simulator.concurrency;

import io.throttlekit.limit.Sample;
import io.throttlekit.simulator.concurrency.algorithm.SimulatedAlgorithm;

/**
 * A limiter that counts every request itself and applies a new limit at once, as one in the same
 * process.
 */
final class InProcessLimiter implements SimulatedLimiter {
  private final SimulatedAlgorithm algorithm;

  InProcessLimiter(SimulatedAlgorithm algorithm) {
    this.algorithm = algorithm;
  }

  @Override
  public int limit() {
    return algorithm.limit();
  }

  @Override
  public boolean admit(long number, long nowNanos, int inFlight) {
    boolean admitted = inFlight < algorithm.limit();
    if (!admitted) {
      algorithm.refused(nowNanos, 1);
    }
    return admitted;
  }

  @Override
  public void ended(
      long number,
      long startNanos,
      long nowNanos,
      int inFlightThen,
      int inFlightNow,
      boolean dropped) {
    boolean full = inFlightNow >= algorithm.limit();
    long rttNanos = nowNanos - startNanos;
    algorithm.learn(new Sample(startNanos, rttNanos, nowNanos, inFlightThen, full, dropped));
  }

  @Override
  public long next() {
    return Long.MAX_VALUE;
  }

  @Override
  public void wake() {}
}
