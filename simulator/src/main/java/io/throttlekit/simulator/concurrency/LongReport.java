package io.throttlekit.simulator.concurrency;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/**
 * Half an hour at the capacity and above, for several kinds of backends: whether a limit drifts.
 * Each cell has the goodput and, in brackets, its worst minute, first of an in-process limiter,
 * then of one that is fed by an access log. ✗ marks a worst minute below 0.9, or below 0.95 times
 * the worst one of the best fixed limit where no fixed limit reaches 0.9.
 */
public final class LongReport {
  private static final int SECONDS = 1_800;
  private static final int SEARCHED = 600; // seconds in which the best fixed limit is searched
  private static final int IDLE = 600;
  private static final double IDLE_LOAD = 0.02;
  private static final double WORST_MINUTE = 0.9; // target
  private static final double OF_BEST = 0.95; // where the best fixed limit misses the target
  private static final double ROUNDING = 1e-9; // of quotients of doubles
  private static final List<Double> LOADS = List.of(1.0, 1.05, 1.3);

  private static final List<Kind> KINDS =
      List.of(
          of("default", Conditions.NONE),
          new Kind("backbone", 8, 10, Lengths.EXPONENTIAL, ReviewScenarios.BACKBONE, 0),
          of("bulk", ReviewScenarios.BULK),
          of("contention", ReviewScenarios.CONTENTION),
          new Kind("llm", 8, 2_000, ReviewScenarios.LLM_LENGTHS, ReviewScenarios.LLM, 0),
          of("jit", ReviewScenarios.JIT),
          of("neighbour", ReviewScenarios.NEIGHBOUR),
          of("heavy", ReviewScenarios.HEAVY, Conditions.NONE, 0),
          of("idle", Lengths.logNormal(Plan.VARIATION), Conditions.NONE, IDLE));

  private final List<Contender> contenders;
  private final List<Row> rows;
  private final long[] seeds;

  /**
   * A kind of backend.
   *
   * @param idle seconds at a very low load before the half hour
   */
  private record Kind(
      String name,
      int servers,
      double meanMillis,
      Lengths lengths,
      Conditions conditions,
      int idle) {

    Plan plan(double load, int seconds) {
      Plan plan = Plan.empty().under(conditions);
      return (idle == 0 ? plan : plan.then(phase(IDLE_LOAD, idle))).then(phase(load, seconds));
    }

    private Phase phase(double load, int seconds) {
      return ReviewScenarios.phase(seconds, load, servers, meanMillis, lengths);
    }
  }

  /** A kind of backend at a load. */
  private record Row(Kind kind, double load) {
    String name() {
      return String.format(Locale.ROOT, "%s %.2f", kind.name, load);
    }

    int bestLimit(long[] seeds) {
      return new ReviewScenario(name(), "", kind.plan(load, SEARCHED), 0).search(seeds);
    }

    Cell cell(Contender contender, boolean logged, long[] seeds) {
      Plan plan = kind.plan(load, SECONDS);
      double goodput = 0;
      double worst = Double.MAX_VALUE;
      for (long seed : seeds) {
        Course course = new Scenario("long", "", plan, logged, List.of()).play(contender, seed);
        SpanFigures figures = SpanFigures.of(course, kind.idle, plan::goodMillis);
        goodput += figures.goodput() / seeds.length;
        worst = Math.min(worst, figures.minutes().stream().min(Double::compare).orElseThrow());
      }
      return new Cell(goodput, worst);
    }
  }

  /** The goodput of a half hour, and of its worst minute. */
  private record Cell(double goodput, double worst) {
    String text(double target) {
      String missed = worst < target - ROUNDING ? " ✗" : "";
      return String.format(Locale.ROOT, "%.3f (%.3f)%s", goodput, worst, missed);
    }
  }

  private LongReport(List<Row> rows, List<Contender> contenders, long[] seeds) {
    this.rows = rows;
    this.contenders = contenders;
    this.seeds = seeds;
  }

  /**
   * Plans the runs.
   *
   * @param only found in the names of the rows that are run
   * @param algorithms found in the names of the algorithms that are run
   * @param firstSeed the others follow it
   * @param seeds number of runs of each row, from 1
   * @throws IllegalStateException if no row or no algorithm has such a name
   */
  public static LongReport of(Pattern only, Pattern algorithms, long firstSeed, int seeds) {
    List<Row> all =
        KINDS.stream().flatMap(kind -> LOADS.stream().map(load -> new Row(kind, load))).toList();
    return new LongReport(
        Names.matching(all, Row::name, only),
        Names.matching(Contenders.reviewed(), Contender::name, algorithms),
        LongStream.range(firstSeed, firstSeed + seeds).toArray());
  }

  /** Runs all rows on all cores; takes minutes. Returns a Markdown table. */
  public String markdown() {
    List<String> titles = new ArrayList<>(List.of("goodput (worst minute)", "best fixed limit"));
    contenders.forEach(contender -> titles.add(contender.name()));
    MarkdownTable table = new MarkdownTable(titles);
    List<Integer> limits = rows.stream().parallel().map(row -> row.bestLimit(seeds)).toList();
    int columns = 1 + 2 * contenders.size();
    List<Cell> cells =
        IntStream.range(0, rows.size() * columns)
            .parallel()
            .mapToObj(i -> cell(rows.get(i / columns), limits.get(i / columns), i % columns))
            .toList();
    for (int i = 0; i < rows.size(); i++) {
      table.row(row(rows.get(i), limits.get(i), cells.subList(i * columns, (i + 1) * columns)));
    }
    return table.take();
  }

  private Cell cell(Row row, int limit, int column) {
    return column == 0
        ? row.cell(Contender.fixed(limit), false, seeds)
        : row.cell(contenders.get((column - 1) / 2), column % 2 == 0, seeds);
  }

  private static List<String> row(Row row, int limit, List<Cell> cells) {
    Cell best = cells.getFirst();
    double target = // some minutes are bad with any limit
        best.worst >= WORST_MINUTE ? WORST_MINUTE : OF_BEST * best.worst;
    List<String> texts = new ArrayList<>();
    texts.add("`%s`".formatted(row.name()));
    texts.add(limit + ": " + best.text(target));
    for (int i = 1; i < cells.size(); i += 2) {
      texts.add(cells.get(i).text(target) + " · " + cells.get(i + 1).text(target));
    }
    return texts;
  }

  private static Kind of(String name, Conditions conditions) {
    return of(name, Lengths.logNormal(Plan.VARIATION), conditions, 0);
  }

  private static Kind of(String name, Lengths lengths, Conditions conditions, int idle) {
    return new Kind(name, Plan.SERVERS, Plan.MEAN_MILLIS, lengths, conditions, idle);
  }
}
