package io.throttlekit.simulator.concurrency;

/**
 * What somebody once wrote into a configuration.
 *
 * @param ceiling stays
 */
record FixedCeiling(int ceiling) implements Law {
  /** Everything is let in. */
  static final FixedCeiling NONE = new FixedCeiling(Integer.MAX_VALUE);
}
