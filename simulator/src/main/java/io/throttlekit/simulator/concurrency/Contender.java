package io.throttlekit.simulator.concurrency;

import java.util.function.LongFunction;

/**
 * A limit algorithm with its settings.
 *
 * @param name in tables
 * @param laws creates the algorithm in its initial state, from a seed
 */
record Contender(String name, LongFunction<Law> laws) {

  /** Creates the algorithm in its initial state. */
  Law law(long seed) {
    return laws.apply(seed);
  }
}
