package io.throttlekit.simulator.concurrency;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares our default algorithm with the best fixed limit, on seeds not used to find constants.
 */
@Tag("slow")
class ReviewTest {
  private static final long[] HELD_OUT = {201};
  private static final long[] MORE_HELD_OUT = {201, 202, 203, 204, 205};
  private static final long[] SEARCHED = {1, 2, 3};
  private static final double BEHIND = 0.015; // the most goodput that another algorithm gains
  private static final double BETTER = 0.003; // chance makes that much of a difference
  private static final Bounds USUAL = new Bounds(0.96, 0.85, 0.95, 0.85);

  /** What our default algorithm reaches in the scenario in which it is weak: requests are few. */
  private static final Map<String, Bounds> WEAK = Map.of("llm", new Bounds(0.94, 0.65, 0.93, 0.5));

  /** By how much another algorithm has more goodput where ours is weak: docs/CONCURRENCY.md. */
  private static final Map<String, Double> FAR_BEHIND =
      Map.of(
          "llm",
          0.04,
          "routes",
          0.025,
          "blend",
          0.02,
          "wandering",
          0.02,
          "few",
          0.025,
          "morning",
          0.025);

  /** The least goodput of the whole and of the worst minute, relative to the best fixed limit. */
  private record Bounds(double exact, double exactMinute, double logged, double loggedMinute) {}

  static Stream<ReviewScenario> scenarios() {
    return ReviewScenarios.all().stream();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("scenarios")
  void goodputIsCloseToThatOfTheBestFixedLimit(ReviewScenario scenario) {
    Bounds bounds = WEAK.getOrDefault(scenario.name(), USUAL);
    ReviewScenario.Result exact = scenario.compare(Contenders.probedVegas(), false, HELD_OUT);
    assertThat(exact.goodput()).isGreaterThan(bounds.exact());
    assertThat(exact.worstMinute()).isGreaterThan(bounds.exactMinute());
    ReviewScenario.Result logged = scenario.compare(Contenders.probedVegas(), true, HELD_OUT);
    assertThat(logged.goodput()).isGreaterThan(bounds.logged());
    assertThat(logged.worstMinute()).isGreaterThan(bounds.loggedMinute());
  }

  /** Behind a log, an algorithm that follows each window is late. */
  @ParameterizedTest(name = "{0}")
  @ValueSource(strings = {"wandering", "neighbour"})
  void serviceTimesThatVaryWithinSecondsCostLittleBehindALog(String name) {
    ReviewScenario scenario =
        ReviewScenarios.all().stream().filter(s -> s.name().equals(name)).findFirst().orElseThrow();
    assertThatNoneIsMuchBetter(scenario, true);
  }

  @Test
  @Tag("thorough")
  void noOtherAlgorithmIsMuchBetterInAnyScenario() {
    for (ReviewScenario scenario : ReviewScenarios.all()) {
      assertThatNoneIsMuchBetter(scenario, false);
      assertThatNoneIsMuchBetter(scenario, true);
    }
  }

  @Test
  @Tag("thorough")
  void theMeanGoodputReachesItsTarget() {
    long[] seeds = {101, 102, 103, 104, 105};
    DoubleSummaryStatistics exact = new DoubleSummaryStatistics();
    DoubleSummaryStatistics logged = new DoubleSummaryStatistics();
    for (ReviewScenario scenario : ReviewScenarios.all()) {
      exact.accept(scenario.compare(Contenders.probedVegas(), false, seeds).goodput());
      logged.accept(scenario.compare(Contenders.probedVegas(), true, seeds).goodput());
    }
    assertThat(exact.getAverage()).isGreaterThanOrEqualTo(0.99);
    assertThat(logged.getAverage()).isGreaterThanOrEqualTo(0.985);
  }

  @Test
  @Tag("thorough")
  void noOtherFixedLimitIsBetter() {
    for (ReviewScenario scenario : ReviewScenarios.all()) {
      double most = scenario.goodput(scenario.search(SEARCHED), SEARCHED);
      double found = scenario.goodput(scenario.bestLimit(), SEARCHED);
      assertThat(found).as(scenario.name()).isGreaterThan(most - BETTER);
    }
  }

  @Test
  void theBestFixedLimitIsComparedWithItself() {
    ReviewScenario scenario = ReviewScenarios.reviewed().getFirst();
    ReviewScenario.Result result =
        scenario.compare(Contender.fixed(scenario.bestLimit()), false, new long[] {1});
    assertThat(result.goodput()).isEqualTo(1, within(1e-9));
    assertThat(result.worstMinute()).isEqualTo(1, within(1e-9));
  }

  @Test
  void theReportHasATableForEachFigure() {
    ReviewReport report =
        ReviewReport.of(
            ReviewScenarios.reviewed().subList(0, 1), List.of(Contenders.probedVegas()), 1, 1);
    assertThat(report.markdown())
        .containsPattern(
            "\\| goodput, relative to the best fixed limit \\| ProbedVegas \\|\n\\|---\\|---\\|\n"
                + "\\| `few` \\| \\d\\.\\d{3} · \\d\\.\\d{3} \\|\n\\| mean \\|")
        .contains("worst minute", "refused below the capacity");
  }

  private static void assertThatNoneIsMuchBetter(ReviewScenario scenario, boolean logged) {
    List<ReviewScenario.Result> results =
        Contenders.reviewed().stream()
            .parallel()
            .map(contender -> scenario.compare(contender, logged, MORE_HELD_OUT))
            .toList();
    double best = results.stream().mapToDouble(ReviewScenario.Result::goodput).max().orElseThrow();
    assertThat(results.getFirst().goodput()) // ours
        .as("%s, logged %s", scenario, logged)
        .isGreaterThan(best - FAR_BEHIND.getOrDefault(scenario.name(), BEHIND));
  }
}
