package io.throttlekit.simulator.concurrency;

import io.throttlekit.simulator.concurrency.algorithm.FixedAlgorithm;
import io.throttlekit.simulator.concurrency.algorithm.SimulatedAlgorithm;
import java.util.function.LongFunction;

/**
 * A limit algorithm with its settings.
 *
 * @param name in tables
 * @param algorithms creates the algorithm in its initial state, from a seed
 */
public record Contender(String name, LongFunction<SimulatedAlgorithm> algorithms) {

  /** Returns a constant limit. */
  static Contender fixed(int limit) {
    return new Contender("fixed at " + limit, _ -> new FixedAlgorithm(limit));
  }

  /** Creates the algorithm in its initial state. */
  SimulatedAlgorithm algorithm(long seed) {
    return algorithms.apply(seed);
  }
}
