package io.throttlekit.simulator.concurrency.algorithm;

/**
 * A constant limit, as from a configuration file.
 *
 * @param limit concurrency limit
 */
public record FixedAlgorithm(int limit) implements SimulatedAlgorithm {
  /** No limit. */
  public static final FixedAlgorithm NONE = new FixedAlgorithm(Integer.MAX_VALUE);
}
