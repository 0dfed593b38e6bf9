package io.throttlekit.simulator.concurrency;

import io.throttlekit.concurrency.ConcurrencyLimit;
import io.throttlekit.concurrency.Sample;
import java.util.function.BooleanSupplier;

/**
 * A law of the engine.
 *
 * @param limit is told everything
 * @param measuring whether it has lowered the ceiling to measure
 */
record OurLaw(ConcurrencyLimit limit, BooleanSupplier measuring) implements Law {

  @Override
  public int ceiling() {
    return limit.ceiling();
  }

  @Override
  public void learn(Sample sample) {
    limit.learn(sample);
  }

  @Override
  public void refused(long arrivedNanos, long requests) {
    limit.refused(arrivedNanos, requests);
  }

  @Override
  public void inForce(int requests, long sinceNanos) {
    limit.inForce(requests, sinceNanos);
  }

  @Override
  public boolean probing() {
    return measuring.getAsBoolean();
  }
}
