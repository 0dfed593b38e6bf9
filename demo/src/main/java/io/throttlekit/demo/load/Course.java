package io.throttlekit.demo.load;

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
 * The outcomes of requests, by the second in which they were scheduled.
 *
 * <p>Thread-safe. A second is complete only once the client timeout has passed after it.
 */
public final class Course {
  private static final int PERCENTILE = 99;

  private final List<Second> seconds;
  private final long goodNanos;
  private final int maxMillis;
  private final AtomicIntegerArray limits;

  /** The outcome of a request. */
  private enum Outcome {
    GOOD,
    LATE,
    REFUSED,
    FAILED
  }

  /**
   * The outcomes of a span of seconds.
   *
   * @param good responses with 200 within the deadline
   * @param late responses with 200 after it
   * @param refused responses with 503 or 429
   * @param failed requests that timed out, and all other responses
   * @param p99Millis latency of requests that were not refused; failed ones count with the client
   *     timeout. Empty if all were refused
   * @param limit median of the limit in effect; empty if there is none
   */
  public record Figures(
      long good, long late, long refused, long failed, OptionalInt p99Millis, OptionalInt limit) {

    /** Returns the number of scheduled requests. */
    public long offered() {
      return good + late + refused + failed;
    }

    /**
     * Returns the good responses as a share of the offered requests, or of the capacity if that is
     * less.
     *
     * @param possible requests that the upstream can serve in these seconds
     */
    public double goodput(double possible) {
      return offered() == 0 ? 0 : good / Math.min((double) offered(), possible);
    }
  }

  /**
   * @param length in seconds, from 1
   * @param good time within which a response counts as good
   * @param timeout of clients, whole ms
   */
  public Course(int length, Duration good, Duration timeout) {
    this.goodNanos = good.toNanos();
    this.maxMillis = (int) timeout.toMillis();
    this.seconds = Stream.generate(() -> new Second(maxMillis)).limit(length).toList();
    this.limits = new AtomicIntegerArray(length);
  }

  /**
   * Records a response.
   *
   * @param second in which the request was scheduled, from 0
   * @param status of HTTP
   * @param nanos since its scheduled time
   */
  public void answered(int second, int status, long nanos) {
    switch (status) {
      case 200 -> admitted(second, nanos <= goodNanos ? Outcome.GOOD : Outcome.LATE, nanos);
      case 429, 503 -> seconds.get(second).count(Outcome.REFUSED);
      default -> failed(second);
    }
  }

  /** Records a request that timed out or could not be sent. */
  public void failed(int second) {
    admitted(second, Outcome.FAILED, maxMillis * 1_000_000L);
  }

  /** Records the limit in effect in a second, from 0. */
  public void limit(int second, int requests) {
    limits.set(second, requests + 1); // 0 stands for unknown
  }

  /** Returns the outcomes from one second to another, exclusive. */
  public Figures figures(int from, int to) {
    List<Second> span = seconds.subList(from, to);
    return new Figures(
        sum(span, Outcome.GOOD),
        sum(span, Outcome.LATE),
        sum(span, Outcome.REFUSED),
        sum(span, Outcome.FAILED),
        percentile(span),
        medianLimit(from, to));
  }

  private static long sum(List<Second> span, Outcome outcome) {
    return span.stream().mapToLong(second -> second.counted(outcome)).sum();
  }

  private void admitted(int second, Outcome outcome, long nanos) {
    long millis = (Math.max(nanos, 0) + 999_999) / 1_000_000;
    Second within = seconds.get(second);
    within.took((int) Math.min(millis, maxMillis));
    within.count(outcome);
  }

  private OptionalInt percentile(List<Second> span) {
    long[] millis = new long[maxMillis + 1];
    span.forEach(second -> second.addTo(millis));
    long all = LongStream.of(millis).sum();
    // The nearest rank, rounded up.
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

  private OptionalInt medianLimit(int from, int to) {
    int[] known =
        IntStream.range(from, to).map(limits::get).filter(seen -> seen > 0).sorted().toArray();
    return known.length == 0 ? OptionalInt.empty() : OptionalInt.of(known[known.length / 2] - 1);
  }

  private static final class Second {
    private final Map<Outcome, LongAdder> counts = new EnumMap<>(Outcome.class);
    private final AtomicIntegerArray millis;

    Second(int maxMillis) {
      this.millis = new AtomicIntegerArray(maxMillis + 1);
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
