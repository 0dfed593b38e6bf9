package io.throttlekit.simulator.concurrency;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;

/**
 * What became of a plan, second by second.
 *
 * <p>Spans are seconds since the start: from the first, up to before the second.
 */
final class Course {
  /** What is answered within this many times the mean of its phase is good. */
  static final double GOOD = 5;

  private static final double SECOND = TimeUnit.SECONDS.toNanos(1);

  private final Plan plan;
  private final Second[] seconds;
  private final float[] rtts;

  /** What happened in one second; only {@link Recorder} writes. */
  static final class Second {
    private final int firstEnded;
    int offered;
    int refused;
    int ended;
    int dropped;
    int mostInFlight;
    double ceilingNanos;
    boolean probed;

    Second(int firstEnded) {
      this.firstEnded = firstEnded;
    }

    /** The mean over the second. */
    double ceiling() {
      return ceilingNanos / SECOND;
    }
  }

  Course(Plan plan, Second[] seconds, float[] rtts) {
    this.plan = plan;
    this.seconds = seconds;
    this.rtts = rtts;
  }

  /** How long all of it took. */
  int length() {
    return seconds.length;
  }

  /**
   * Good answers, as a share of what was asked or, where that is less, of what the backend could
   * have answered.
   */
  double goodput(int from, int to) {
    double good = 0;
    double possible = 0;
    for (int at = from; at < to; at++) {
      Phase phase = plan.at(at);
      Second second = seconds[at];
      for (int i = 0; i < second.ended; i++) {
        if (rtts[second.firstEnded + i] <= GOOD * phase.meanMillis()) {
          good++;
        }
      }
      possible += Math.min(second.offered, phase.capacity());
    }
    return good / possible;
  }

  /** What part of the requests was kept out. */
  double refused(int from, int to) {
    double refused = 0;
    double offered = 0;
    for (int at = from; at < to; at++) {
      refused += seconds[at].refused;
      offered += seconds[at].offered;
    }
    return refused / offered;
  }

  /**
   * How long those took that were admitted, ms; the client's patience for those that it gave up.
   *
   * @param quantile above 0, up to 1; the nearest rank
   */
  double latency(double quantile, int from, int to) {
    float[] span = span(from, to);
    if (span.length == 0) {
      return 0;
    }
    Arrays.sort(span);
    return span[(int) Math.ceil(quantile * span.length) - 1];
  }

  /** How long they took in the mean, ms. */
  double meanLatency(int from, int to) {
    double sum = 0;
    float[] span = span(from, to);
    for (float rtt : span) {
      sum += rtt;
    }
    return sum / span.length;
  }

  /** What was completed or given up in a second. */
  double endedPerSecond(int from, int to) {
    return (double) span(from, to).length / (to - from);
  }

  /** The most that were in flight at once. */
  int mostInFlight(int from, int to) {
    int most = 0;
    for (int at = from; at < to; at++) {
      most = Math.max(most, seconds[at].mostInFlight);
    }
    return most;
  }

  /** The ceiling in force, averaged over time. */
  double ceiling(int from, int to) {
    double sum = 0;
    for (int at = from; at < to; at++) {
      sum += seconds[at].ceiling();
    }
    return sum / (to - from);
  }

  /** The ceilings of the seconds in which the law did not lower it to measure. */
  double[] settledCeilings(int from, int to) {
    return IntStream.range(from, to)
        .filter(at -> !seconds[at].probed)
        .mapToDouble(at -> seconds[at].ceiling())
        .toArray();
  }

  private float[] span(int from, int to) {
    Second last = seconds[to - 1];
    return Arrays.copyOfRange(rtts, seconds[from].firstEnded, last.firstEnded + last.ended);
  }
}
