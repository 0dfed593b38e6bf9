package io.throttlekit.demo.overload;

import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/**
 * What became of the requests of each second, the second in which they were to be sent.
 *
 * <p>Thread-safe. A second that has just been is not complete: its last requests may take as long
 * as clients are patient.
 */
final class Course {
  private static final int PERCENTILE = 99;

  private final List<Second> seconds;
  private final long goodNanos;
  private final int mostMillis;
  private final AtomicIntegerArray ceilings;

  /** What became of a request. */
  private enum Outcome {
    GOOD,
    LATE,
    REFUSED,
    FAILED
  }

  /**
   * What became of the requests of some seconds.
   *
   * @param good answered with 200 within the deadline
   * @param late answered with 200 after it
   * @param refused answered with 503 or 429
   * @param failed given up by the client, or answered with anything else
   * @param p99Millis latency of what was not refused; what failed counts as long as clients wait.
   *     Empty when all was refused
   * @param ceiling the median of what was in force; empty where there is none
   */
  record Figures(
      long good, long late, long refused, long failed, OptionalInt p99Millis, OptionalInt ceiling) {

    /** All requests that were to be sent. */
    long offered() {
      return good + late + refused + failed;
    }

    /**
     * What was good, of what could have been: the smaller of what was offered and what the upstream
     * could do.
     *
     * @param possible requests that the upstream could do in these seconds
     */
    double goodput(double possible) {
      return offered() == 0 ? 0 : good / Math.min((double) offered(), possible);
    }
  }

  /**
   * @param length in seconds, from 1
   * @param good how soon an answer must come to be good
   * @param patience after how long clients give up, whole ms
   */
  Course(int length, Duration good, Duration patience) {
    this.goodNanos = good.toNanos();
    this.mostMillis = (int) patience.toMillis();
    this.seconds = Stream.generate(() -> new Second(mostMillis)).limit(length).toList();
    this.ceilings = new AtomicIntegerArray(length);
  }

  /**
   * A request was answered.
   *
   * @param second in which it was to be sent, from 0
   * @param status of HTTP
   * @param nanos since it was to be sent
   */
  void answered(int second, int status, long nanos) {
    switch (status) {
      case 200 -> admitted(second, nanos <= goodNanos ? Outcome.GOOD : Outcome.LATE, nanos);
      case 429, 503 -> seconds.get(second).count(Outcome.REFUSED);
      default -> failed(second);
    }
  }

  /** A request was given up, or could not be sent. */
  void failed(int second) {
    admitted(second, Outcome.FAILED, mostMillis * 1_000_000L);
  }

  /** The ceiling that was in force in a second, from 0. */
  void ceiling(int second, int requests) {
    ceilings.set(second, requests + 1); // 0 is nothing known
  }

  /** What became of all of them from one second on until, but without, another. */
  Figures figures(int from, int to) {
    List<Second> span = seconds.subList(from, to);
    return new Figures(
        sum(span, Outcome.GOOD),
        sum(span, Outcome.LATE),
        sum(span, Outcome.REFUSED),
        sum(span, Outcome.FAILED),
        percentile(span),
        medianCeiling(from, to));
  }

  private static long sum(List<Second> span, Outcome outcome) {
    return span.stream().mapToLong(second -> second.counted(outcome)).sum();
  }

  private void admitted(int second, Outcome outcome, long nanos) {
    long millis = (Math.max(nanos, 0) + 999_999) / 1_000_000;
    Second within = seconds.get(second);
    within.took((int) Math.min(millis, mostMillis));
    within.count(outcome);
  }

  private OptionalInt percentile(List<Second> span) {
    long[] millis = new long[mostMillis + 1];
    span.forEach(second -> second.addTo(millis));
    long all = LongStream.of(millis).sum();
    long rank = (all * PERCENTILE + 99) / 100;
    long seen = 0;
    for (int i = 0; i < millis.length && all > 0; i++) {
      seen += millis[i];
      if (seen >= rank) {
        return OptionalInt.of(i);
      }
    }
    return OptionalInt.empty();
  }

  private OptionalInt medianCeiling(int from, int to) {
    int[] known =
        IntStream.range(from, to).map(ceilings::get).filter(seen -> seen > 0).sorted().toArray();
    return known.length == 0 ? OptionalInt.empty() : OptionalInt.of(known[known.length / 2] - 1);
  }

  private static final class Second {
    private final Map<Outcome, LongAdder> counts = new EnumMap<>(Outcome.class);
    private final AtomicIntegerArray millis;

    Second(int mostMillis) {
      this.millis = new AtomicIntegerArray(mostMillis + 1);
      for (Outcome outcome : Outcome.values()) {
        counts.put(outcome, new LongAdder());
      }
    }

    void count(Outcome outcome) {
      Objects.requireNonNull(counts.get(outcome)).increment();
    }

    long counted(Outcome outcome) {
      return Objects.requireNonNull(counts.get(outcome)).sum();
    }

    void took(int took) {
      int _ = millis.getAndIncrement(took);
    }

    void addTo(long[] to) {
      for (int i = 0; i < to.length; i++) {
        to[i] += millis.get(i);
      }
    }
  }
}
