package io.throttlekit.simulator.concurrency.algorithm;

import io.throttlekit.limit.ConcurrencyLimit;
import io.throttlekit.limit.Sample;

/**
 * An algorithm of this project.
 *
 * @param algorithm receives all events
 */
public record OurAlgorithm(ConcurrencyLimit algorithm) implements SimulatedAlgorithm {

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
  public void acknowledged(int requests, long sinceNanos) {
    algorithm.acknowledged(requests, sinceNanos);
  }

  @Override
  public boolean isProbing() {
    return algorithm.isProbing();
  }
}
