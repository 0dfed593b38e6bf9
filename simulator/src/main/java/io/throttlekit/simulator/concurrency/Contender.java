package io.throttlekit.simulator.concurrency;

import java.util.function.LongFunction;

/**
 * A limit algorithm with its settings.
 *
 * @param name in tables
 * @param laws creates the algorithm in its initial state, from a seed
 */
record Contender(String name, LongFunction<SimulatedAlgorithm> laws) {

  /** Creates the algorithm in its initial state. */
  SimulatedAlgorithm law(long seed) {
    return laws.apply(seed);
  }
}
