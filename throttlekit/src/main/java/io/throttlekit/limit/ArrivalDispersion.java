package io.throttlekit.limit;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * How much the arrivals of requests vary within a latency: the variance of their number by its
 * mean, which is 1 for arrivals at random, and more for bursts. It is the Allan variance (Allan
 * 1966), half of the mean square of the difference between successive spans, so that a slow change
 * of the load does not count. Not thread-safe.
 */
final class ArrivalDispersion {
  /** The shortest span, as access logs are no more precise. */
  private static final long MIN_SPAN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** The relative difference of the latency by which a span is kept. */
  private static final double SIMILAR = 0.25;

  /** The share of the sums that a span leaves while no limit refuses requests. */
  private static final double KEPT = 0.998;

  /** The share while a limit refuses requests: only those that it admits are counted. */
  private static final double KEPT_REFUSING = 0.9998;

  /** The number of requests elsewhere that has half of the weight. */
  private static final double HALF_WEIGHT_REQUESTS = 5_000;

  /** The most requests elsewhere that count: with more, later digests would weigh nothing. */
  private static final long MAX_REQUESTS = 100_000;

  /** The requests of the sums before the first span, as random arrivals. */
  private static final double PRIOR = 100;

  /** Spans until a count is final: requests end in another order than they begin. */
  private static final int SPANS = 8;

  /** Time until a count is final, in addition: an access log is that late. */
  private static final long LATE_NANOS = TimeUnit.SECONDS.toNanos(2);

  /** Spans in the ring of counts; more than {@link #lateSpans} of the shortest span. */
  private static final int COUNTED = 256;

  private final int[] counts = new int[COUNTED];
  private long spanNanos = MIN_SPAN_NANOS;
  private int late = lateSpans(MIN_SPAN_NANOS);
  private boolean begun;

  /** When span 0 began: monotonic times may overflow, and only their differences count. */
  private long originNanos;

  /** The first span that is not final. */
  private long first;

  private long latest;

  /** The requests of the last final span, or negative without one. */
  private int last = -1;

  private double weight = 1;
  private double kept = KEPT;
  private double requests = PRIOR;
  private double squares = PRIOR;

  /** Counts a request, which began before it ended, whatever start is reported. */
  void began(Sample sample) {
    began(Math.min(sample.startNanos(), sample.arrivedNanos() - sample.rttNanos()));
  }

  /**
   * Counts a request that began at a monotonic time. Requests come in any order; one that began in
   * a span that is final does not count.
   */
  void began(long nanos) {
    if (!begun) {
      begun = true;
      originNanos = Math.floorDiv(nanos, spanNanos) * spanNanos; // no span begins with a request
      first = -late; // the first to end is not the first to begin
      latest = 0;
    }
    long span = Math.floorDiv(nanos - originNanos, spanNanos);
    if (span < first) {
      return; // too late
    }
    for (; span - first >= COUNTED && latest - first >= 0; first++) {
      complete();
    }
    if (span - first >= COUNTED) { // nothing began for long, and this request need not be the first
      first = span - late;
      last = -1;
    }
    counts[at(span)]++;
    latest = Math.max(latest, span);
    for (; latest - first > late; first++) {
      complete();
    }
  }

  /**
   * Adds the dispersion of requests elsewhere.
   *
   * @param variance of their number by its mean, from 1
   * @param count number of requests, from 0
   */
  void add(double variance, long count) {
    long counted = Math.min(count, MAX_REQUESTS);
    double share = counted / (counted + HALF_WEIGHT_REQUESTS);
    requests += share * (counted - requests);
    squares += share * (variance * counted - squares);
  }

  /**
   * Ends a window.
   *
   * @param latencyNanos latency of the backend, from 1; the next spans are as long
   * @param refusing whether a limit refused requests
   */
  void next(double latencyNanos, boolean refusing) {
    kept = refusing ? KEPT_REFUSING : KEPT;
    weight = (1 - kept) / (1 - KEPT);
    long wanted = Math.max(MIN_SPAN_NANOS, (long) latencyNanos);
    if (Math.abs(wanted - spanNanos) > SIMILAR * spanNanos) {
      spanNanos = wanted;
      late = lateSpans(wanted);
      begun = false;
      last = -1;
      Arrays.fill(counts, 0);
    }
  }

  /** Returns the variance by the mean, from 1. */
  double value() {
    return Math.max(1, squares / requests);
  }

  private void complete() {
    int next = counts[at(first)];
    counts[at(first)] = 0;
    if (last < 0 && next == 0) {
      return; // nothing has begun yet
    }
    if (last >= 0) {
      double difference = next - (double) last;
      requests = kept * requests + weight * next;
      squares = kept * squares + weight * difference * difference / 2;
    }
    last = next;
  }

  private static int at(long span) {
    return Math.floorMod(span, COUNTED);
  }

  private static int lateSpans(long spanNanos) {
    return (int) (SPANS + LATE_NANOS / spanNanos);
  }
}
