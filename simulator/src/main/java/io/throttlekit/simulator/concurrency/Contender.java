package io.throttlekit.simulator.concurrency;

import java.util.function.LongFunction;

/**
 * A limit algorithm with its settings.
 *
 * @param name in tables
 * @param algorithms creates the algorithm in its initial state, from a seed
 */
record Contender(String name, LongFunction<SimulatedAlgorithm> algorithms) {

  /** Creates the algorithm in its initial state. */
  SimulatedAlgorithm algorithm(long seed) {
    return algorithms.apply(seed);
  }
}
