package io.throttlekit.simulator.concurrency;

/**
 * A constant limit, as from a configuration file.
 *
 * @param limit concurrency limit
 */
record FixedAlgorithm(int limit) implements SimulatedAlgorithm {
  /** No limit. */
  static final FixedAlgorithm NONE = new FixedAlgorithm(Integer.MAX_VALUE);
}
