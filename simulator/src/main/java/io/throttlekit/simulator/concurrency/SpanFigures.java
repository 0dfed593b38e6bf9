package io.throttlekit.simulator.concurrency;

import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Figures of a span of a run.
 *
 * @param goodput of the span
 * @param minutes goodput of each minute of it
 * @param p99 of the latency in ms
 */
record SpanFigures(double goodput, List<Double> minutes, double p99) {
  private static final int MINUTE = 60;

  /** Copies the minutes. */
  SpanFigures {
    minutes = List.copyOf(minutes);
  }

  /**
   * Figures divided by the figures of the best fixed limit in the same spans.
   *
   * @param goodput of all runs
   * @param worstMinute the lowest of all minutes, each relative to the same minute
   * @param p99 the highest of all runs
   */
  record Relative(double goodput, double worstMinute, double p99) {}

  /**
   * Returns the figures from a second of a run to its end.
   *
   * @param goal latency in ms up to which a response of a phase is good
   */
  static SpanFigures of(Course course, int from, ToDoubleFunction<Phase> goal) {
    int to = course.length();
    List<Double> minutes =
        IntStream.iterate(from, at -> at < to, at -> at + MINUTE)
            .mapToObj(at -> course.goodput(at, Math.min(at + MINUTE, to), goal))
            .toList();
    return new SpanFigures(course.goodput(from, to, goal), minutes, course.latency(0.99, from, to));
  }

  /**
   * Compares runs with the runs of the best fixed limit.
   *
   * @param best of the same seeds, in the same order
   */
  static Relative compare(List<SpanFigures> runs, List<SpanFigures> best) {
    double good = 0;
    double possible = 0;
    double worst = Double.MAX_VALUE;
    double p99 = 0;
    for (int run = 0; run < runs.size(); run++) {
      SpanFigures one = runs.get(run);
      SpanFigures other = best.get(run);
      good += one.goodput;
      possible += other.goodput;
      p99 = Math.max(p99, one.p99 / other.p99);
      for (int i = 0; i < one.minutes.size(); i++) {
        worst = Math.min(worst, one.minutes.get(i) / other.minutes.get(i));
      }
    }
    return new Relative(good / possible, worst, p99);
  }
}
