package io.throttlekit.simulator.concurrency;

import java.util.List;
import java.util.Locale;
import java.util.function.IntFunction;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

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
   * Runs scenarios on all cores; all of them take minutes.
   *
   * @param only found in the names of the scenarios that are run
   * @param algorithms found in the names of the algorithms that are run
   * @param firstSeed the others follow it; the seeds from 1 to 22 were used to find constants
   * @param seeds number of runs, from 1
   * @throws IllegalStateException if no scenario or no algorithm has such a name
   */
  public static ReviewReport of(Pattern only, Pattern algorithms, long firstSeed, int seeds) {
    return of(
        Names.matching(ReviewScenarios.all(), ReviewScenario::name, only),
        Names.matching(Contenders.reviewed(), Contender::name, algorithms),
        firstSeed,
        seeds);
  }

  /**
   * Searches the best fixed limit of scenarios on all cores; all of them take minutes.
   *
   * @param only found in the names of the scenarios
   * @return a Markdown table of the limits of this class, those that were found, and their goodput
   */
  public static String search(Pattern only, long firstSeed, int seeds) {
    long[] all = LongStream.range(firstSeed, firstSeed + seeds).toArray();
    MarkdownTable table =
        new MarkdownTable(List.of("scenario", "limit", "goodput", "limit found", "goodput"));
    Names.matching(ReviewScenarios.all(), ReviewScenario::name, only).parallelStream()
        .map(scenario -> {
          int found = scenario.search(all);
          return List.of(
              "`%s`".formatted(scenario.name()),
              String.valueOf(scenario.bestLimit()),
              Target.shown(scenario.goodput(scenario.bestLimit(), all)),
              String.valueOf(found),
              Target.shown(scenario.goodput(found, all)));
        })
        .toList()
        .forEach(table::row);
    return table.take();
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
    MarkdownTable table =
        new MarkdownTable(cells(TITLES.get(figure), i -> contenders.get(i).name()));
    for (int i = 0; i < scenarios.size(); i++) {
      int row = i;
      table.row(
          cells(
              "`%s`".formatted(scenarios.get(row).name()),
              at -> cell(figure, figure(figure, row, 2 * at), figure(figure, row, 2 * at + 1))));
    }
    table.row(cells("mean", at -> cell(figure, mean(figure, 2 * at), mean(figure, 2 * at + 1))));
    return table.take();
  }

  private List<String> cells(String first, IntFunction<String> cell) {
    return Stream.concat(Stream.of(first), IntStream.range(0, contenders.size()).mapToObj(cell))
        .toList();
  }

  private static String cell(int figure, double exact, double logged) {
    boolean share = figure == FIGURES.size() - 1;
    return share
        ? String.format(Locale.ROOT, "%.2f · %.2f", 100 * exact, 100 * logged)
        : String.format(Locale.ROOT, "%.3f · %.3f", exact, logged);
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
