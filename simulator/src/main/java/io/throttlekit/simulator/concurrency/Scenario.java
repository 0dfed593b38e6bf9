package io.throttlekit.simulator.concurrency;

import io.throttlekit.simulator.concurrency.algorithm.SimulatedAlgorithm;
import java.util.List;

/**
 * A plan, and the targets of the algorithms in it.
 *
 * @param name one word, also of files
 * @param title for readers
 * @param plan load and backend
 * @param logged whether samples come from a proxy's access log
 * @param targets to reach
 */
public record Scenario(String name, String title, Plan plan, boolean logged, List<Target> targets) {

  /** Copies the targets. */
  public Scenario {
    targets = List.copyOf(targets);
  }

  /** Runs the plan with an algorithm in its initial state. */
  public Course play(Contender contender, long seed) {
    SimulatedAlgorithm algorithm = contender.algorithm(seed);
    SimulatedLimiter limiter =
        logged ? new LoggedLimiter(algorithm, Chain.ENVOY, seed) : new InProcessLimiter(algorithm);
    return play(algorithm, limiter, seed);
  }

  /**
   * Runs the plan with a limiter in its initial state.
   *
   * @param limiter applies the limit of {@code algorithm}
   */
  public Course play(SimulatedAlgorithm algorithm, SimulatedLimiter limiter, long seed) {
    return Simulation.play(plan, algorithm, limiter, seed);
  }

  @Override
  public String toString() {
    return name;
  }
}
