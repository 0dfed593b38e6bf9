package io.throttlekit.concurrency;

/**
 * A while at a lowered ceiling, to see what a request takes that waits for nobody.
 *
 * <p>If latency falls with the ceiling, it was a queue, and the descent goes on at half; once it no
 * longer does, what is left is the backend's own. Only requests count that began when the lowered
 * ceiling was obeyed: one that an older ceiling let in has waited in the older queue.
 */
final class Descent {
  /** What of the latency must stay for the backend to be as slow by itself. */
  private static final double STAYS = 0.65;

  private static final int GIVEN_UP_ONE_IN = 20;

  private final int min;
  private final int samples;
  private final long marginNanos;
  private final long patienceNanos;
  private final LatencyQuantiles latencies = new LatencyQuantiles();
  private int ceiling;
  private double reference;
  private int dropped;
  private long loweredNanos;
  private boolean obeyed;
  private long countsFromNanos;

  /** How a step of the descent came out. */
  sealed interface Outcome {

    /** Not enough is known yet. */
    record Continues() implements Outcome {}

    /** The latency without a queue, in ns. */
    record Measured(double nanos) implements Outcome {}

    /** Requests were given up even at this ceiling. */
    record Overloaded(int ceiling) implements Outcome {}

    /** Too few requests counted in time, or the gate never obeyed. */
    record Unknown() implements Outcome {}
  }

  private static final Outcome CONTINUES = new Outcome.Continues();

  /**
   * Lowers the ceiling for the first time.
   *
   * @param from the ceiling until now
   * @param min the least ceiling
   * @param reference the median latency so far, in ns
   * @param nowNanos when the ceiling is lowered, monotonic
   * @param told whether the gate says when it obeys; it does at once otherwise
   * @param settings how many requests are a measurement, and what is between a word of the gate and
   *     its truth
   */
  Descent(
      int from,
      int min,
      double reference,
      long nowNanos,
      boolean told,
      ProbedVegasLimit.Settings settings) {
    this.min = min;
    this.samples = settings.probeSamples();
    this.marginNanos = settings.marginNanos();
    this.patienceNanos = settings.probeIntervalNanos() / 2;
    this.reference = reference;
    this.ceiling = from;
    lower(nowNanos, told);
  }

  /** What the gate may let in now. */
  int ceiling() {
    return ceiling;
  }

  /** Learns that the gate obeys the lowered ceiling. */
  void inForce(long sinceNanos) {
    if (!obeyed && sinceNanos - loweredNanos >= 0) {
      obeyed = true;
      countsFromNanos = sinceNanos + marginNanos;
    }
  }

  /**
   * Learns from a request that has ended.
   *
   * @param told whether the gate says when it obeys
   */
  Outcome learn(Sample sample, boolean told) {
    if (obeyed && sample.startNanos() - countsFromNanos >= 0) {
      if (sample.dropped()) {
        dropped++;
      } else {
        latencies.add(sample.rttNanos());
      }
    }
    if (overloaded()) {
      return new Outcome.Overloaded(ceiling);
    }
    if (latencies.count() < samples) {
      return isOver(sample.arrivedNanos()) ? new Outcome.Unknown() : CONTINUES;
    }
    double median = latencies.quantile(0.5);
    if (median >= STAYS * reference || ceiling == min) {
      return new Outcome.Measured(median);
    }
    reference = median;
    lower(sample.arrivedNanos(), told);
    return CONTINUES;
  }

  /** Whether too much time has passed since the ceiling was lowered last. */
  boolean isOver(long nowNanos) {
    return nowNanos - loweredNanos >= patienceNanos;
  }

  private boolean overloaded() {
    int ended = latencies.count() + dropped;
    return ended >= samples && (long) dropped * GIVEN_UP_ONE_IN > ended;
  }

  private void lower(long nowNanos, boolean told) {
    ceiling = Math.max(min, ceiling / 2);
    loweredNanos = nowNanos;
    obeyed = !told;
    countsFromNanos = nowNanos;
    latencies.reset();
    dropped = 0;
  }
}
