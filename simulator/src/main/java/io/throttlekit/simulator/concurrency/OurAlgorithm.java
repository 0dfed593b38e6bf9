package io.throttlekit.simulator.concurrency;

import io.throttlekit.concurrency.ConcurrencyLimit;
import io.throttlekit.concurrency.Sample;
import java.util.function.BooleanSupplier;

/**
 * An algorithm of this project.
 *
 * @param algorithm receives all events
 * @param measuring whether it has lowered the limit for a measurement
 */
record OurAlgorithm(ConcurrencyLimit algorithm, BooleanSupplier measuring)
    implements SimulatedAlgorithm {

  @Override
  public int limit() {
    return algorithm.limit();
  }

  @Override
  public void learn(Sample sample) {
    algorithm.learn(sample);
  }

  @Override
  public void refused(long arrivedNanos, long requests) {
    algorithm.refused(arrivedNanos, requests);
  }

  @Override
  public void inForce(int requests, long sinceNanos) {
    algorithm.inForce(requests, sinceNanos);
  }

  @Override
  public boolean probing() {
    return measuring.getAsBoolean();
  }
}
