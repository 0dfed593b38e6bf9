package io.throttlekit.simulator.concurrency;

import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Every automatic algorithm beside the best fixed limit, in the scenarios of the review. Each cell
 * is of an in-process limiter, then of one that is fed by an access log.
 */
public final class ReviewReport {
  private static final List<ToDoubleFunction<ReviewScenario.Result>> FIGURES =
      List.of(
          ReviewScenario.Result::goodput,
          ReviewScenario.Result::worstMinute,
          ReviewScenario.Result::refused);

  private static final List<String> TITLES =
      List.of(
          "goodput, relative to the best fixed limit",
          "worst minute's goodput, relative to the best fixed limit",
          "refused below the capacity, %");

  private final List<ReviewScenario> scenarios;
  private final List<Contender> contenders;
  private final List<ReviewScenario.Result> results;

  private ReviewReport(
      List<ReviewScenario> scenarios,
      List<Contender> contenders,
      List<ReviewScenario.Result> results) {
    this.scenarios = scenarios;
    this.contenders = contenders;
    this.results = results;
  }

  /**
   * Runs all scenarios on all cores; takes minutes.
   *
   * @param firstSeed the others follow it; the seeds from 1 to 5 were used to find constants
   * @param seeds number of runs, from 1
   */
  public static ReviewReport of(long firstSeed, int seeds) {
    return of(ReviewScenarios.all(), Contenders.reviewed(), firstSeed, seeds);
  }

  /** Runs some scenarios. */
  static ReviewReport of(
      List<ReviewScenario> scenarios, List<Contender> contenders, long firstSeed, int seeds) {
    long[] all = LongStream.range(firstSeed, firstSeed + seeds).toArray();
    int columns = 2 * contenders.size();
    List<ReviewScenario.Result> results =
        IntStream.range(0, scenarios.size() * columns)
            .parallel()
            .mapToObj(i ->
                scenarios
                    .get(i / columns)
                    .compare(contenders.get(i % columns / 2), i % 2 == 1, all))
            .toList();
    return new ReviewReport(scenarios, contenders, results);
  }

  /** Returns a Markdown table for each figure. */
  public String markdown() {
    return IntStream.range(0, FIGURES.size())
        .mapToObj(this::table)
        .collect(Collectors.joining("\n"));
  }

  private String table(int figure) {
    String names = contenders.stream().map(Contender::name).collect(Collectors.joining(" | "));
    StringBuilder table =
        new StringBuilder("| %s | %s |\n|---|".formatted(TITLES.get(figure), names));
    table.append("---|".repeat(contenders.size())).append('\n');
    for (int row = 0; row < scenarios.size(); row++) {
      table.append("| `%s` |".formatted(scenarios.get(row).name()));
      for (int column = 0; column < contenders.size(); column++) {
        double exact = figure(figure, row, 2 * column);
        table.append(cell(figure, exact, figure(figure, row, 2 * column + 1)));
      }
      table.append('\n');
    }
    table.append("| mean |");
    for (int column = 0; column < contenders.size(); column++) {
      table.append(cell(figure, mean(figure, 2 * column), mean(figure, 2 * column + 1)));
    }
    return table.append('\n').toString();
  }

  private static String cell(int figure, double exact, double logged) {
    boolean share = figure == FIGURES.size() - 1;
    return share
        ? String.format(Locale.ROOT, " %.2f · %.2f |", 100 * exact, 100 * logged)
        : String.format(Locale.ROOT, " %.3f · %.3f |", exact, logged);
  }

  private double mean(int figure, int column) {
    return IntStream.range(0, scenarios.size())
        .mapToDouble(row -> figure(figure, row, column))
        .average()
        .orElse(Double.NaN);
  }

  private double figure(int figure, int row, int column) {
    ReviewScenario.Result result = results.get(row * 2 * contenders.size() + column);
    return FIGURES.get(figure).applyAsDouble(result);
  }
}
