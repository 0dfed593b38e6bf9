package io.throttlekit.simulator.concurrency;

/**
 * A constant limit, as from a configuration file.
 *
 * @param ceiling concurrency limit
 */
record FixedAlgorithm(int ceiling) implements SimulatedAlgorithm {
  /** No limit. */
  static final FixedAlgorithm NONE = new FixedAlgorithm(Integer.MAX_VALUE);
}
