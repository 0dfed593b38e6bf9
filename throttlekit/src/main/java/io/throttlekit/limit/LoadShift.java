package io.throttlekit.limit;

/**
 * Notices that a limiter begins to refuse many requests, or that its latency has risen or fallen at
 * once while it refuses some: the limit will change soon. In a steady overload it notices nothing.
 * Times are monotonic ns. Not thread-safe.
 */
final class LoadShift {
  /** How long refusals are counted before they are compared with those before. */
  private static final long PERIOD_NANOS = 1_000_000_000;

  /** Refusals that are no chance. */
  private static final int MIN_REFUSED = 5;

  /** Many are refused: a quarter of those that have ended, which is a fifth of all. */
  private static final int MANY_ONE_IN = 4;

  /** Few are refused, compared with those that have ended. */
  private static final int FEW_ONE_IN = 20;

  /** Requests whose mean latency is compared with the mean before: after some, a large change. */
  private static final int MIN_BATCH = 10;

  private static final int MAX_BATCH = 50;

  /** The relative change of latency that is noticed, if it is also beyond all chance. */
  private static final double CHANGE = 1.25;

  /** Standard errors of a mean that are beyond chance, in many comparisons. */
  private static final int ERRORS = 5;

  /** The weight of a batch in the mean that later ones are compared with. */
  private static final double WEIGHT = 0.2;

  private boolean begun;
  private long periodNanos;
  private long refused;
  private long ended;
  private boolean refusing;
  private boolean noticed;
  private double sum;
  private double squares;
  private int count;

  /** The mean of latencies and that of their squares; 0 before the first batch. */
  private double mean;

  private double meanSquare;

  /** Counts refused requests. Returns whether the limiter begins to refuse many. */
  boolean refused(long requests, long nowNanos) {
    next(nowNanos);
    refused += requests;
    boolean begins =
        !refusing && !noticed && refused >= MIN_REFUSED && refused >= ended / MANY_ONE_IN;
    noticed |= begins;
    return begins;
  }

  /** Counts a request that has ended. Returns whether latency has changed much. */
  boolean ended(long latencyNanos, long nowNanos) {
    next(nowNanos);
    ended++;
    sum += latencyNanos;
    squares += (double) latencyNanos * latencyNanos;
    count++;
    boolean changed = isChanged();
    if (changed || count == MAX_BATCH) {
      endBatch(changed);
    }
    return changed && (refusing || isMoreThanFew());
  }

  private boolean isMoreThanFew() {
    return refused > ended / FEW_ONE_IN;
  }

  private boolean isChanged() {
    if (count < MIN_BATCH || mean == 0) {
      return false;
    }
    double now = sum / count;
    double variance = Math.max(0, meanSquare - mean * mean);
    return (now > CHANGE * mean || now * CHANGE < mean)
        && (now - mean) * (now - mean) * count > ERRORS * ERRORS * variance;
  }

  private void endBatch(boolean changed) {
    double now = sum / count;
    if (changed) { // with the relative deviation from before: that of the batch is of both
      meanSquare *= now / mean * (now / mean);
      mean = now;
    } else {
      double weight = mean == 0 ? 1 : WEIGHT;
      mean += weight * (now - mean);
      meanSquare += weight * (squares / count - meanSquare);
    }
    sum = 0;
    squares = 0;
    count = 0;
  }

  private void next(long nowNanos) {
    if (!begun) {
      begun = true;
      periodNanos = nowNanos;
    } else if (nowNanos - periodNanos >= PERIOD_NANOS) {
      refusing = isMoreThanFew();
      refused = 0;
      ended = 0;
      noticed = false;
      periodNanos = nowNanos;
    }
  }
}
