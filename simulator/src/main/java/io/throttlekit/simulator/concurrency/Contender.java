package io.throttlekit.simulator.concurrency;

import java.util.function.LongFunction;

/**
 * A law with its settings.
 *
 * @param name in tables
 * @param laws one that knows nothing yet, by the seed of its randomness
 */
record Contender(String name, LongFunction<Law> laws) {

  /** One that knows nothing yet. */
  Law law(long seed) {
    return laws.apply(seed);
  }
}
