package io.throttlekit.simulator.fleet;

import io.throttlekit.simulator.concurrency.Contenders;
import io.throttlekit.simulator.concurrency.Course;
import io.throttlekit.simulator.concurrency.Names;
import io.throttlekit.simulator.concurrency.Scenario;
import io.throttlekit.simulator.concurrency.SweepReport;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Fleets beside one process with the same limit algorithm: goodput, p99, and the time in which the
 * limit follows a halved capacity. Goodput is the mean of all seeds and the worst of them, the
 * other figures are the worst. A seed determines the requests, so that all columns get the same
 * ones.
 */
public final class FleetReport {
  /** How much less goodput a fleet may have than one process. */
  static final double TARGET = 0.01;

  private static final double ROUNDING = 1e-9; // of differences of doubles

  private final List<FleetRow> rows;
  private final List<FleetShape> shapes;

  /** By scenario, then column: one process first. */
  private final Map<String, List<Figures>> results;

  /** The figures of each row of a scenario in one column, and the time to follow. */
  private record Figures(
      List<Double> mean, List<Double> worst, List<Double> p99, double followed) {}

  private FleetReport(
      List<FleetRow> rows, List<FleetShape> shapes, Map<String, List<Figures>> results) {
    this.rows = rows;
    this.shapes = shapes;
    this.results = results;
  }

  /**
   * Runs the published scenarios and the loads of the sweep on all cores; takes minutes.
   *
   * @param fine whether the loads differ by 0.01, as in {@link SweepReport}
   * @param only found in the names of the rows that are run
   * @param firstSeed the others follow it
   * @param seeds number of runs, from 1
   * @throws IllegalStateException if no row has such a name
   */
  public static FleetReport of(boolean fine, Pattern only, long firstSeed, int seeds) {
    List<FleetRow> rows =
        Stream.concat(FleetRow.all().stream(), FleetRow.sweep(SweepReport.loads(fine)).stream())
            .toList();
    return of(Names.matching(rows, FleetRow::name, only), firstSeed, seeds);
  }

  /** Runs some scenarios with all shapes of fleets. */
  static FleetReport of(List<FleetRow> rows, long firstSeed, int seeds) {
    List<FleetShape> shapes =
        List.of(
            FleetShape.even(1),
            FleetShape.even(4),
            FleetShape.skewed(4),
            FleetShape.even(16),
            FleetShape.skewed(16));
    return of(rows, shapes, firstSeed, seeds);
  }

  /** Runs some scenarios. */
  static FleetReport of(List<FleetRow> rows, List<FleetShape> shapes, long firstSeed, int seeds) {
    List<Scenario> scenarios = rows.stream().map(FleetRow::scenario).distinct().toList();
    int columns = 1 + shapes.size();
    List<Figures> all =
        IntStream.range(0, scenarios.size() * columns)
            .parallel()
            .mapToObj(i -> {
              int column = i % columns;
              FleetShape shape = column == 0 ? null : shapes.get(column - 1);
              return figures(rows, scenarios.get(i / columns), shape, firstSeed, seeds);
            })
            .toList();
    Map<String, List<Figures>> results = new LinkedHashMap<>();
    for (int i = 0; i < scenarios.size(); i++) {
      results.put(scenarios.get(i).name(), all.subList(i * columns, (i + 1) * columns));
    }
    return new FleetReport(rows, shapes, results);
  }

  /** Plays a scenario with a fleet, or with one process if there is no shape. */
  static Course play(Scenario scenario, @Nullable FleetShape shape, long seed) {
    if (shape == null) {
      return scenario.play(Contenders.probedVegas(), seed);
    }
    FleetLimiter fleet = new FleetLimiter(shape, seed);
    return scenario.play(fleet, fleet, seed);
  }

  /**
   * Returns Markdown tables of goodput with its difference from that of one process, and of the
   * other figures; ✗ marks a difference beyond the target.
   */
  public String markdown() {
    StringBuilder text = new StringBuilder();
    text.append(differences("goodput, mean", Figures::mean)).append('\n');
    text.append(differences("goodput, worst", Figures::worst)).append('\n');
    text.append(head("p99, ms"));
    for (FleetRow row : rows) {
      text.append("| %s |".formatted(row.name()));
      text.append(cells(row, figures -> figures.p99().get(index(row))));
    }
    rows.stream()
        .filter(row -> row.scenario().name().equals(FleetRow.HALVED))
        .findFirst()
        .ifPresent(row ->
            text.append("| seconds to follow the halved capacity |")
                .append(cells(row, Figures::followed)));
    return text.toString();
  }

  /** Returns the mean goodput of a row; column 0 is one process. */
  double goodput(FleetRow row, int column) {
    return of(row, column).mean().get(index(row));
  }

  /** Returns a table of goodput with its differences from that of one process. */
  private String differences(String head, Function<Figures, List<Double>> goodput) {
    StringBuilder text = new StringBuilder(head(head));
    for (FleetRow row : rows) {
      double one = goodput.apply(of(row, 0)).get(index(row));
      text.append("| %s | %s |".formatted(row.name(), number(one, "%.3f")));
      for (int column = 1; column <= shapes.size(); column++) {
        double fleet = goodput.apply(of(row, column)).get(index(row));
        text.append(number(fleet, " %.3f") + number(fleet - one, " (%+.3f)"));
        text.append(fleet - one < -TARGET - ROUNDING ? " ✗ |" : " |");
      }
      text.append('\n');
    }
    return text.toString();
  }

  private String cells(FleetRow row, ToDoubleFunction<Figures> figure) {
    return IntStream.rangeClosed(0, shapes.size())
        .mapToObj(column -> number(figure.applyAsDouble(of(row, column)), " %.0f |"))
        .collect(Collectors.joining("", "", "\n"));
  }

  private String head(String figure) {
    String names = shapes.stream().map(FleetShape::name).collect(Collectors.joining(" | "));
    return "| %s | one process | %s |\n|---|---|%s\n"
        .formatted(figure, names, "---|".repeat(shapes.size()));
  }

  private Figures of(FleetRow row, int column) {
    List<Figures> all = results.get(row.scenario().name());
    if (all == null) {
      throw new IllegalArgumentException("no scenario " + row.scenario().name());
    }
    return all.get(column);
  }

  /** Returns the number of a row among those of its scenario. */
  private int index(FleetRow row) {
    return of(rows, row.scenario()).indexOf(row);
  }

  private static List<FleetRow> of(List<FleetRow> rows, Scenario scenario) {
    return rows.stream().filter(row -> row.scenario().name().equals(scenario.name())).toList();
  }

  private static Figures figures(
      List<FleetRow> all,
      Scenario scenario,
      @Nullable FleetShape shape,
      long firstSeed,
      int seeds) {
    List<FleetRow> rows = of(all, scenario);
    double[] mean = new double[rows.size()];
    double[] worst = new double[rows.size()];
    double[] p99 = new double[rows.size()];
    Arrays.fill(worst, Double.MAX_VALUE);
    double followed = 0;
    for (long seed = firstSeed; seed < firstSeed + seeds; seed++) {
      Course course = play(scenario, shape, seed);
      for (int i = 0; i < rows.size(); i++) {
        double goodput = rows.get(i).goodput(course);
        mean[i] += goodput / seeds;
        worst[i] = Math.min(worst[i], goodput);
        p99[i] = Math.max(p99[i], rows.get(i).p99(course));
      }
      if (scenario.name().equals(FleetRow.HALVED)) {
        followed = Math.max(followed, FleetRow.followed(course));
      }
    }
    return new Figures(list(mean), list(worst), list(p99), followed);
  }

  private static List<Double> list(double[] figures) {
    return Arrays.stream(figures).boxed().toList();
  }

  private static String number(double figure, String format) {
    return String.format(Locale.ROOT, format, figure);
  }
}
