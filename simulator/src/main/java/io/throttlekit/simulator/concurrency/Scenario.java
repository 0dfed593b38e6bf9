package io.throttlekit.simulator.concurrency;

import java.util.List;

/**
 * What happens to a backend, and what a law ought to make of it.
 *
 * @param name a word, of files too
 * @param title in words
 * @param plan what happens
 * @param logged whether the law hears of it by a proxy's access log
 * @param targets what it ought to reach
 */
record Scenario(String name, String title, Plan plan, boolean logged, List<Target> targets) {

  /** Copies the targets. */
  Scenario {
    targets = List.copyOf(targets);
  }

  /** Plays it with a law that knows nothing yet. */
  Course play(Contender contender, long seed) {
    Law law = contender.law(seed);
    Gate gate = logged ? new LoggedGate(law, Chain.ENVOY, seed) : new ExactGate(law);
    return Simulation.play(plan, law, gate, seed);
  }

  @Override
  public String toString() {
    return name;
  }
}
