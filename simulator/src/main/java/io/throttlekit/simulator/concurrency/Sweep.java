package io.throttlekit.simulator.concurrency;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ForkJoinPool;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Runs of one backend at loads around its capacity. The goals of latency are read off the same
 * runs.
 *
 * @param rows of the table, from 1, all of the same backend
 * @param loads relative to the capacity
 * @param contenders algorithms that are compared with the best fixed limit
 * @param seeds of the runs
 */
record Sweep(List<Row> rows, List<Double> loads, List<Contender> contenders, List<Long> seeds) {

  private static final long RUN_BYTES = 80_000_000; // of the longest run, while it is recorded

  /** Copies the lists. */
  Sweep {
    rows = List.copyOf(rows);
    loads = List.copyOf(loads);
    contenders = List.copyOf(contenders);
    seeds = List.copyOf(seeds);
  }

  /**
   * A row of the table.
   *
   * @param goal of latency, in service times
   * @param logged whether samples come from a proxy's access log
   */
  record Row(SweepStart start, SweepBackend backend, int goal, boolean logged) {
    /** Returns all rows of a backend. */
    static Stream<Row> of(SweepBackend backend) {
      return Stream.of(SweepStart.values())
          .flatMap(start ->
              SweepBackend.GOALS.stream()
                  .flatMap(goal ->
                      Stream.of(false, true).map(logged -> new Row(start, backend, goal, logged))));
    }

    /** Returns the name in tables. */
    String name() {
      String sensor = logged ? "logged" : "exact";
      return "%s %s %d× %s".formatted(start.title(), backend.title(), goal, sensor);
    }
  }

  /**
   * The best fixed limit of a load.
   *
   * @param limits one for each goal: the one with the most goodput, at the load from the start on
   * @param shared the most goodput of a limit for all goals: the lowest of its goals, each relative
   *     to that goal's best limit
   */
  record Best(List<Integer> limits, double shared) {
    Best {
      limits = List.copyOf(limits);
    }
  }

  /**
   * The figures of an algorithm in a row at a load.
   *
   * @param goodput mean of all runs
   * @param bestGoodput mean of the best fixed limit
   */
  record Step(
      Row row,
      Contender contender,
      double load,
      SpanFigures.Relative figures,
      double goodput,
      double bestGoodput) {}

  /** The results: the best limit of each load, and the steps of all rows in the order of loads. */
  record Result(List<Best> best, List<Step> steps) {
    Result {
      best = List.copyOf(best);
      steps = List.copyOf(steps);
    }
  }

  SweepBackend backend() {
    return rows.getFirst().backend();
  }

  /** Runs the sweep on as many cores as the heap allows. */
  Result run() {
    List<Best> best = best();
    SweepStart[] starts = SweepStart.values();
    List<List<Step>> steps =
        parallel(
            loads.size() * starts.length,
            i ->
                steps(
                    starts[i % starts.length],
                    loads.get(i / starts.length),
                    best.get(i / starts.length)));
    return new Result(best, steps.stream().flatMap(List::stream).toList());
  }

  private List<Best> best() {
    int[] limits = backend().limits();
    List<double[]> goodputs =
        parallel(
            loads.size() * limits.length,
            i -> goodputs(loads.get(i / limits.length), limits[i % limits.length]));
    return IntStream.range(0, loads.size())
        .mapToObj(load ->
            best(limits, goodputs.subList(load * limits.length, (load + 1) * limits.length)))
        .toList();
  }

  private static Best best(int[] limits, List<double[]> goodputs) {
    int goals = SweepBackend.GOALS.size();
    int[] best = new int[goals];
    for (int goal = 0; goal < goals; goal++) {
      for (int limit = 1; limit < limits.length; limit++) {
        if (goodputs.get(limit)[goal] > goodputs.get(best[goal])[goal]) {
          best[goal] = limit;
        }
      }
    }
    double shared =
        goodputs.stream()
            .mapToDouble(each ->
                IntStream.range(0, goals)
                    .mapToDouble(goal -> each[goal] / goodputs.get(best[goal])[goal])
                    .min()
                    .orElseThrow())
            .max()
            .orElseThrow();
    return new Best(IntStream.of(best).mapToObj(at -> limits[at]).toList(), shared);
  }

  /** Returns the mean goodput of a fixed limit for each goal. */
  private double[] goodputs(double load, int limit) {
    Plan plan = backend().searched(load);
    double[] sums = new double[SweepBackend.GOALS.size()];
    for (long seed : seeds) {
      Course course = play(plan, Contender.fixed(limit), false, seed);
      for (int i = 0; i < sums.length; i++) {
        double goodMillis = backend().goodMillis(SweepBackend.GOALS.get(i));
        sums[i] += course.goodput(0, course.length(), _ -> goodMillis);
      }
    }
    return sums;
  }

  private List<Step> steps(SweepStart start, double load, Best best) {
    Map<Integer, List<List<SpanFigures>>> fixed = new HashMap<>(); // by limit
    List<Step> steps = new ArrayList<>();
    for (boolean logged : new boolean[] {false, true}) {
      List<Row> wanted =
          rows.stream().filter(row -> row.start() == start && row.logged() == logged).toList();
      for (Contender contender : wanted.isEmpty() ? List.<Contender>of() : contenders) {
        List<List<SpanFigures>> runs = figures(start, load, contender, logged);
        for (Row row : wanted) {
          int goal = SweepBackend.GOALS.indexOf(row.goal());
          List<SpanFigures> others =
              fixed
                  .computeIfAbsent(
                      best.limits().get(goal),
                      limit -> figures(start, load, Contender.fixed(limit), false))
                  .get(goal);
          SpanFigures.Relative figures = SpanFigures.compare(runs.get(goal), others);
          steps.add(
              new Step(row, contender, load, figures, goodput(runs.get(goal)), goodput(others)));
        }
      }
    }
    return steps;
  }

  /** Returns the figures of each goal in the runs of all seeds. */
  private List<List<SpanFigures>> figures(
      SweepStart start, double load, Contender contender, boolean logged) {
    List<List<SpanFigures>> figures =
        SweepBackend.GOALS.stream().<List<SpanFigures>>map(_ -> new ArrayList<>()).toList();
    for (long seed : seeds) {
      Course course = play(start.plan(backend(), load), contender, logged, seed);
      for (int i = 0; i < figures.size(); i++) {
        double goodMillis = backend().goodMillis(SweepBackend.GOALS.get(i));
        figures.get(i).add(SpanFigures.of(course, start.reached(), _ -> goodMillis));
      }
    }
    return figures;
  }

  private static double goodput(List<SpanFigures> runs) {
    return runs.stream().mapToDouble(SpanFigures::goodput).average().orElseThrow();
  }

  private static Course play(Plan plan, Contender contender, boolean logged, long seed) {
    return new Scenario("sweep", "", plan, logged, List.of()).play(contender, seed);
  }

  /** Runs tasks in a pool of its own, because each of them needs memory. */
  private static <T> List<T> parallel(int tasks, IntFunction<T> task) {
    int cores = Runtime.getRuntime().availableProcessors();
    int most = Math.clamp(Runtime.getRuntime().maxMemory() / RUN_BYTES, 1, cores);
    try (ForkJoinPool pool = new ForkJoinPool(most)) {
      return pool.submit(() -> IntStream.range(0, tasks).parallel().mapToObj(task).toList()).join();
    }
  }
}
