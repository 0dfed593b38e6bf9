package io.throttlekit.simulator.concurrency;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * Algorithms beside the best fixed limit at each load around the capacity of a backend, as
 * Markdown. A row has the worst step of each figure, and its load.
 */
public final class SweepReport {
  /** The rows that are drawn: the default backend, after a calm minute. */
  public static final Pattern DRAWN = Pattern.compile("calm 20 direct");

  private static final double ROUNDING = 1e-9; // of quotients of doubles
  private static final double SHARED = 0.98; // goodput of one fixed limit for all goals

  private static final List<Figure> FIGURES =
      List.of(
          new Figure("goodput", 0.98, true, SpanFigures.Relative::goodput),
          new Figure("worst minute", 0.95, true, SpanFigures.Relative::worstMinute),
          new Figure("p99", 1.5, false, SpanFigures.Relative::p99));

  private final List<Sweep> sweeps;
  private final List<Contender> contenders;
  private final List<Double> loads;

  /** A figure of a step, divided by the best fixed limit's figure, and the target. */
  private record Figure(
      String name, double bound, boolean atLeast, ToDoubleFunction<SpanFigures.Relative> of) {

    double of(Sweep.Step step) {
      return of.applyAsDouble(step.figures());
    }

    Sweep.Step worst(List<Sweep.Step> steps) {
      Comparator<Sweep.Step> order = Comparator.comparingDouble(this::of);
      return steps.stream().min(atLeast ? order : order.reversed()).orElseThrow();
    }

    boolean isMissed(List<Sweep.Step> steps) {
      double worst = of(worst(steps));
      return atLeast ? worst < bound - ROUNDING : worst > bound + ROUNDING;
    }

    String cell(List<Sweep.Step> steps) {
      Sweep.Step worst = worst(steps);
      String figure = number(of(worst), "%.3f") + number(worst.load(), " at %.2f");
      return isMissed(steps) ? figure + " ✗" : figure;
    }

    String missed(List<Sweep.Step> steps) {
      Collection<List<Sweep.Step>> rows =
          steps.stream().collect(Collectors.groupingBy(Sweep.Step::row)).values();
      return "%d of %d".formatted(rows.stream().filter(this::isMissed).count(), rows.size());
    }

    String mean(List<Sweep.Step> steps) {
      return number(steps.stream().mapToDouble(this::of).average().orElseThrow(), "%.3f");
    }
  }

  private SweepReport(List<Sweep> sweeps, List<Contender> contenders, List<Double> loads) {
    this.sweeps = sweeps;
    this.contenders = contenders;
    this.loads = loads;
  }

  /**
   * Plans a sweep.
   *
   * @param fine whether loads differ by 0.01, instead of 12 loads
   * @param only found in the names of the rows that are run
   * @param algorithms found in the names of the algorithms that are run
   * @param firstSeed the others follow it
   * @param seeds number of runs of each step, from 1
   * @throws IllegalStateException if no row or no algorithm has such a name
   */
  public static SweepReport of(
      boolean fine, Pattern only, Pattern algorithms, long firstSeed, int seeds) {
    List<Contender> contenders = Names.matching(Contenders.reviewed(), Contender::name, algorithms);
    return of(loads(fine), contenders, only, firstSeed, seeds);
  }

  /** Plans a sweep of some loads. */
  static SweepReport of(
      List<Double> loads, List<Contender> contenders, Pattern only, long firstSeed, int seeds) {
    List<Long> all = LongStream.range(firstSeed, firstSeed + seeds).boxed().toList();
    List<Sweep.Row> rows =
        Names.matching(
            SweepBackend.all().stream().flatMap(Sweep.Row::of).toList(), Sweep.Row::name, only);
    List<Sweep> sweeps =
        SweepBackend.all().stream()
            .map(backend -> rows.stream().filter(row -> row.backend().equals(backend)).toList())
            .filter(wanted -> !wanted.isEmpty())
            .map(wanted -> new Sweep(wanted, loads, contenders, all))
            .toList();
    return new SweepReport(sweeps, contenders, loads);
  }

  /** Returns the loads of a sweep, relative to the capacity. */
  public static List<Double> loads(boolean fine) {
    return (fine
            ? IntStream.rangeClosed(90, 120)
            : IntStream.of(90, 95, 98, 100, 101, 102, 103, 105, 107, 110, 115, 120))
        .mapToObj(hundredths -> hundredths / 100.0)
        .toList();
  }

  /**
   * Runs the sweep on all cores: a table of the rows, and one of the best fixed limits.
   *
   * @param out receives the rows of each backend as soon as it has run
   */
  public void print(Consumer<String> out) {
    run(out);
  }

  /**
   * Runs and prints the sweep, and draws it.
   *
   * @param folder receives {@code sweep.svg}
   */
  public void draw(Consumer<String> out, Path folder) throws IOException {
    List<Sweep.Step> steps = run(out);
    Files.createDirectories(folder);
    Files.writeString(folder.resolve("sweep.svg"), SweepCurves.of(steps));
  }

  private List<Sweep.Step> run(Consumer<String> out) {
    MarkdownTable table =
        new MarkdownTable(
            row(
                "row",
                contenders,
                contender ->
                    FIGURES.stream().map(figure -> contender.name() + ": " + figure.name())));
    MarkdownTable limits =
        new MarkdownTable(row("best fixed limit", loads, load -> Stream.of(number(load, "%.2f"))));
    List<Sweep.Step> all = new ArrayList<>();
    for (Sweep sweep : sweeps) {
      Sweep.Result result = sweep.run();
      for (Sweep.Row row : sweep.rows()) {
        table.row(figures(row.name(), of(row, result), Figure::cell));
      }
      out.accept(table.take());
      all.addAll(result.steps());
      limits(sweep.backend(), result.best()).forEach(limits::row);
    }
    table.row(figures("worst", all, Figure::cell));
    table.row(figures("rows that miss the target", all, Figure::missed));
    table.row(figures("mean of all steps", all, Figure::mean));
    out.accept(table.take() + "\n" + limits.take());
    return all;
  }

  private static List<Sweep.Step> of(Sweep.Row row, Sweep.Result result) {
    return result.steps().stream().filter(step -> step.row().equals(row)).toList();
  }

  private List<String> figures(
      String name, List<Sweep.Step> steps, BiFunction<Figure, List<Sweep.Step>, String> cell) {
    return row(
        name,
        contenders,
        contender -> {
          List<Sweep.Step> own =
              steps.stream().filter(step -> step.contender().equals(contender)).toList();
          return FIGURES.stream().map(figure -> cell.apply(figure, own));
        });
  }

  private static List<List<String>> limits(SweepBackend backend, List<Sweep.Best> best) {
    List<List<String>> rows = new ArrayList<>();
    for (int i = 0; i < SweepBackend.GOALS.size(); i++) {
      int goal = i;
      rows.add(
          row(
              "%s %d×".formatted(backend.title(), SweepBackend.GOALS.get(goal)),
              best,
              of -> Stream.of(String.valueOf(of.limits().get(goal)))));
    }
    rows.add(
        row(
            backend.title() + ", goodput of one limit for both",
            best,
            of -> Stream.of(number(of.shared(), "%.3f") + (of.shared() < SHARED ? " ✗" : ""))));
    return rows;
  }

  private static <T> List<String> row(
      String first, List<T> items, Function<T, Stream<String>> cells) {
    return Stream.concat(Stream.of(first), items.stream().flatMap(cells)).toList();
  }

  private static String number(double figure, String format) {
    return String.format(Locale.ROOT, format, figure);
  }
}
