package io.throttlekit.simulator.concurrency.algorithm;

import io.throttlekit.limit.Sample;

/** A limit algorithm: ours, another project's, or none. */
public interface SimulatedAlgorithm {

  /** Returns the concurrency limit. */
  int limit();

  /** Adds the sample of a request that has ended. */
  default void learn(Sample sample) {}

  /** Counts requests that the limit refused, at the time when this process receives them. */
  default void refused(long arrivedNanos, long requests) {}

  /** Reports that the limiter applies a limit from now on. */
  default void acknowledged(int requests, long sinceNanos) {}

  /** Returns whether the limit is lowered only for a measurement. */
  default boolean isProbing() {
    return false;
  }
}
