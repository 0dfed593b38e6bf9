package io.throttlekit.simulator.concurrency;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The results of a plan, per second.
 *
 * <p>Spans are seconds since the start, the end exclusive.
 */
public final class Course {
  private static final double SECOND = TimeUnit.SECONDS.toNanos(1);

  private final Plan plan;
  private final Second[] seconds;
  private final float[] rtts;

  /** The counts of one second, written only by {@link Recorder}. */
  static final class Second {
    private final int firstEnded;
    int offered;
    int refused;
    int ended;
    int maxInFlight;
    double limitNanos;
    boolean probed;

    Second(int firstEnded) {
      this.firstEnded = firstEnded;
    }

    /** Returns the mean limit over the second. */
    double limit() {
      return limitNanos / SECOND;
    }
  }

  Course(Plan plan, Second[] seconds, float[] rtts) {
    this.plan = plan;
    this.seconds = seconds;
    this.rtts = rtts;
  }

  /** Returns the length of the run in seconds. */
  int length() {
    return seconds.length;
  }

  /**
   * Returns good responses as a share of the offered requests, or of the capacity of the backend if
   * that is less.
   */
  public double goodput(int from, int to) {
    return goodput(from, to, plan::goodMillis);
  }

  /**
   * Returns the goodput for another goal.
   *
   * @param goal latency in ms up to which a response of a phase is good
   */
  double goodput(int from, int to, ToDoubleFunction<Phase> goal) {
    double good = 0;
    double possible = 0;
    for (int at = from; at < to; at++) {
      Phase phase = plan.at(at);
      Second second = seconds[at];
      double goodMillis = goal.applyAsDouble(phase);
      for (int i = 0; i < second.ended; i++) {
        if (rtts[second.firstEnded + i] <= goodMillis) {
          good++;
        }
      }
      possible += Math.min(second.offered, phase.capacity());
    }
    return good / possible;
  }

  /** Returns the share of requests that were refused. */
  public double refused(int from, int to) {
    double refused = 0;
    double offered = 0;
    for (int at = from; at < to; at++) {
      refused += seconds[at].refused;
      offered += seconds[at].offered;
    }
    return refused / offered;
  }

  /**
   * Returns a quantile of the latency of admitted requests in ms; timed-out requests count with the
   * client timeout.
   *
   * @param quantile above 0, up to 1; the nearest rank
   */
  public double latency(double quantile, int from, int to) {
    float[] latencies = latencies(from, to);
    if (latencies.length == 0) {
      return 0;
    }
    Arrays.sort(latencies);
    return latencies[(int) Math.ceil(quantile * latencies.length) - 1];
  }

  /** Returns the maximum of requests in flight. */
  int maxInFlight(int from, int to) {
    int max = 0;
    for (int at = from; at < to; at++) {
      max = Math.max(max, seconds[at].maxInFlight);
    }
    return max;
  }

  /** Returns the mean limit in effect. */
  public double limit(int from, int to) {
    double sum = 0;
    for (int at = from; at < to; at++) {
      sum += seconds[at].limit();
    }
    return sum / (to - from);
  }

  /** Returns the limits of the seconds in which it was not lowered for a measurement. */
  double[] settledLimits(int from, int to) {
    return IntStream.range(from, to)
        .filter(at -> !seconds[at].probed)
        .mapToDouble(at -> seconds[at].limit())
        .toArray();
  }

  /** Returns the latencies in ms of the requests that were completed or timed out. */
  float[] latencies(int from, int to) {
    Second last = seconds[to - 1];
    return Arrays.copyOfRange(rtts, seconds[from].firstEnded, last.firstEnded + last.ended);
  }
}
