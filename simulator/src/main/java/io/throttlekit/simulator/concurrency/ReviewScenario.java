package io.throttlekit.simulator.concurrency;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * A scenario in which an algorithm is compared with the best fixed limit, which no algorithm knows
 * in advance.
 *
 * @param name one word
 * @param title for readers
 * @param plan load and backend
 * @param bestLimit the fixed limit with the most goodput, found by {@link #search}
 */
record ReviewScenario(String name, String title, Plan plan, int bestLimit) {
  private static final int MAX_LIMIT = 1_000;
  private static final int COARSE = 4; // steps per octave of the first search
  private static final int FINE = 16;

  /**
   * An algorithm beside the best fixed limit.
   *
   * @param goodput of all seeds, relative to the best fixed limit
   * @param worstMinute the lowest goodput of a minute of any seed, relative to that minute of the
   *     best fixed limit
   * @param refused share of the requests that were refused in phases below the capacity
   */
  record Result(double goodput, double worstMinute, double refused) {}

  /** Returns the scenario with the sensor of an in-process limiter, or of an access log. */
  Scenario with(boolean logged) {
    return new Scenario(logged ? name + "-logged" : name, title, plan, logged, List.of());
  }

  /** Compares an algorithm with the best fixed limit. */
  Result compare(Contender contender, boolean logged, long[] seeds) {
    Scenario scenario = with(logged);
    List<SpanFigures> best = new ArrayList<>();
    List<SpanFigures> found = new ArrayList<>();
    double refused = 0;
    for (long seed : seeds) {
      Course course = scenario.play(contender, seed);
      found.add(SpanFigures.of(course, 0, plan::goodMillis));
      refused += refusedBelowCapacity(course) / seeds.length;
      Course fixed = scenario.play(Contender.fixed(bestLimit), seed);
      best.add(SpanFigures.of(fixed, 0, plan::goodMillis));
    }
    SpanFigures.Relative relative = SpanFigures.compare(found, best);
    return new Result(relative.goodput(), relative.worstMinute(), refused);
  }

  /** Returns the fixed limit with the most goodput. */
  int search(long[] seeds) {
    int coarse = best(steps(1, MAX_LIMIT, COARSE), seeds);
    double octave = Math.pow(2, 1.0 / COARSE);
    return best(steps(Math.max(1, coarse / octave), coarse * octave, FINE), seeds);
  }

  /** Returns the goodput of a fixed limit. */
  double goodput(int limit, long[] seeds) {
    return LongStream.of(seeds)
        .mapToObj(seed -> with(false).play(Contender.fixed(limit), seed))
        .mapToDouble(course -> course.goodput(0, course.length()))
        .average()
        .orElseThrow();
  }

  @Override
  public String toString() {
    return name;
  }

  private int best(int[] limits, long[] seeds) {
    int best = limits[0];
    double most = -1;
    for (int limit : limits) {
      double goodput = goodput(limit, seeds);
      if (goodput > most) {
        most = goodput;
        best = limit;
      }
    }
    return best;
  }

  private static int[] steps(double from, double to, int perOctave) {
    return Stream.iterate(from, at -> at <= to, at -> at * Math.pow(2, 1.0 / perOctave))
        .mapToInt(at -> (int) Math.round(at))
        .distinct()
        .toArray();
  }

  private double refusedBelowCapacity(Course course) {
    double refused = 0;
    int seconds = 0;
    int from = 0;
    for (Phase phase : plan.phases()) {
      int to = from + phase.seconds();
      if (phase.perSecond() < phase.capacity()) {
        refused += course.refused(from, to) * phase.seconds();
        seconds += phase.seconds();
      }
      from = to;
    }
    return seconds == 0 ? 0 : refused / seconds;
  }
}
