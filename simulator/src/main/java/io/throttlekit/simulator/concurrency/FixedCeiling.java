package io.throttlekit.simulator.concurrency;

/**
 * A constant limit, as from a configuration file.
 *
 * @param ceiling concurrency limit
 */
record FixedCeiling(int ceiling) implements Law {
  /** No limit. */
  static final FixedCeiling NONE = new FixedCeiling(Integer.MAX_VALUE);
}
