package io.throttlekit.simulator.concurrency;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The results of an algorithm in a scenario.
 *
 * @param figures one for each target of the scenario: the worst over all seeds
 * @param first results per second of the first seed
 */
record ContenderResult(Scenario scenario, Contender contender, List<Double> figures, Course first) {

  /** Copies the figures. */
  ContenderResult {
    figures = List.copyOf(figures);
  }

  /** Runs every algorithm in every scenario, ordered by scenario, on all cores. */
  static List<ContenderResult> all(
      List<Scenario> scenarios, List<Contender> contenders, int seeds) {
    return IntStream.range(0, scenarios.size() * contenders.size())
        .parallel()
        .mapToObj(i ->
            of(scenarios.get(i / contenders.size()), contenders.get(i % contenders.size()), seeds))
        .toList();
  }

  /** Runs one algorithm in one scenario, with the seeds 1, 2, 3 and so on. */
  static ContenderResult of(Scenario scenario, Contender contender, int seeds) {
    Course first = scenario.play(contender, 1);
    List<Double> figures = new ArrayList<>(figures(scenario, first));
    for (long seed = 2; seed <= seeds; seed++) {
      List<Double> found = figures(scenario, scenario.play(contender, seed));
      for (int i = 0; i < figures.size(); i++) {
        figures.set(i, scenario.targets().get(i).worse(figures.get(i), found.get(i)));
      }
    }
    return new ContenderResult(scenario, contender, figures, first);
  }

  private static List<Double> figures(Scenario scenario, Course course) {
    return scenario.targets().stream().map(t -> t.figure().applyAsDouble(course)).toList();
  }
}
