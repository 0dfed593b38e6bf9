package io.throttlekit.simulator.concurrency;

import io.throttlekit.concurrency.ConcurrencyLimit;
import io.throttlekit.concurrency.Sample;
import java.util.function.BooleanSupplier;

/**
 * An algorithm of this project.
 *
 * @param limit receives all events
 * @param measuring whether it has lowered the limit for a measurement
 */
record OurAlgorithm(ConcurrencyLimit limit, BooleanSupplier measuring)
    implements SimulatedAlgorithm {

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
