package io.throttlekit.concurrency;

/**
 * A while at a lowered ceiling, to see what a request takes that waits for nobody.
 *
 * <p>While as much gets through as before, there is a queue, and the descent goes on in growing
 * steps; once less does, servers are idle, and what latency is left is the backend's own. Requests
 * count that end once the lowered ceiling has been obeyed for two latencies: those that waited in
 * the older queue have ended by then but for the longest, which a median only wants to know of. Of
 * those that began below the ceiling, the first to end would be the shortest. Where two latencies
 * are longer than can be waited for, only those count that began there.
 */
final class Descent {
  /** What of the throughput may be left at most for servers to be idle. */
  private static final double LESS = 0.95;

  /** What part of the ceiling is left by the second step; by each after it, the square. */
  private static final double FURTHER = 0.8;

  /** Latencies until the older queue is gone. */
  private static final int DRAINED = 2;

  /** What part of the patience may be spent on waiting for that. */
  private static final int DRAINED_AT_MOST = 4;

  private static final int GIVEN_UP_ONE_IN = 20;

  private final int min;
  private final int samples;
  private final long marginNanos;
  private final long patienceNanos;
  private final LatencyQuantiles latencies = new LatencyQuantiles();
  private int ceiling;
  private int letIn;
  private double throughput;
  private double median;
  private double further = FURTHER;
  private boolean stepped;
  private int dropped;
  private long loweredNanos;
  private boolean obeyed;
  private boolean drains;
  private long obeyedNanos;
  private long countsFromNanos;

  /** How a step of the descent came out. */
  sealed interface Outcome {

    /** Not enough is known yet. */
    record Continues() implements Outcome {}

    /** The latency with idle servers, or at the least ceiling, in ns. */
    record Measured(double nanos) implements Outcome {}

    /** The latency with what may be a queue, in ns: the next step had no end. */
    record AtMost(double nanos) implements Outcome {}

    /** Requests were given up even at this ceiling. */
    record Overloaded(int ceiling) implements Outcome {}

    /** Too few requests counted in time, or the gate never obeyed. */
    record Unknown() implements Outcome {}
  }

  private static final Outcome CONTINUES = new Outcome.Continues();

  /**
   * Lowers the ceiling for the first time.
   *
   * @param ceiling the lowered one
   * @param min the least ceiling
   * @param throughput of the ceiling until now, requests per ns
   * @param median the latency until now, in ns
   * @param nowNanos when the ceiling is lowered, monotonic
   * @param told whether the gate says when it obeys; it does at once otherwise
   * @param settings how many requests are a measurement, and what is between a word of the gate and
   *     its truth
   */
  Descent(
      int ceiling,
      int min,
      double throughput,
      double median,
      long nowNanos,
      boolean told,
      ProbedVegasLimit.Settings settings) {
    this.min = min;
    this.samples = settings.probeSamples();
    this.marginNanos = settings.marginNanos();
    this.patienceNanos = settings.probeIntervalNanos() / 2;
    this.throughput = throughput;
    this.median = median;
    lower(ceiling, nowNanos, told);
  }

  /** What the gate may let in now. */
  int ceiling() {
    return ceiling;
  }

  /** Learns how many requests gates let in, which say so. */
  void inForce(int requests, long sinceNanos) {
    if (obeyed) {
      letIn = Math.max(letIn, Math.min(requests, ceiling));
    } else if (requests <= ceiling) {
      obeyed = true;
      letIn = Math.max(1, requests);
      countFrom(Math.max(sinceNanos - loweredNanos, 0) + loweredNanos + marginNanos);
    }
  }

  /**
   * Learns from a request that has ended.
   *
   * @param told whether the gate says when it obeys
   */
  Outcome learn(Sample sample, boolean told) {
    if (obeyed && counts(sample)) {
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
      return isOver(sample.arrivedNanos()) ? givenUp() : CONTINUES;
    }
    median = latencies.quantile(0.5);
    double lowered = letIn / median;
    if (lowered <= LESS * throughput || ceiling == min) {
      return new Outcome.Measured(median);
    }
    stepped = true;
    throughput = Math.max(throughput, lowered);
    lower((int) (further * ceiling), sample.arrivedNanos(), told);
    further *= further;
    return CONTINUES;
  }

  /** What is known of a descent that {@link #isOver}. */
  Outcome givenUp() {
    return stepped ? new Outcome.AtMost(median) : new Outcome.Unknown();
  }

  /** Whether gates ever let in as little as was asked, for one step at least. */
  boolean isObeyed() {
    return obeyed || stepped;
  }

  /** Whether too much time has passed since the ceiling was lowered last. */
  boolean isOver(long nowNanos) {
    return nowNanos - loweredNanos >= patienceNanos;
  }

  private boolean counts(Sample sample) {
    boolean ended = sample.startNanos() + sample.rttNanos() - countsFromNanos >= 0;
    return ended && (drains || sample.startNanos() - obeyedNanos >= 0);
  }

  private boolean overloaded() {
    int ended = latencies.count() + dropped;
    return ended >= samples && (long) dropped * GIVEN_UP_ONE_IN > ended;
  }

  private void lower(int to, long nowNanos, boolean told) {
    ceiling = Math.max(min, to);
    letIn = ceiling;
    loweredNanos = nowNanos;
    obeyed = !told;
    countFrom(nowNanos);
    latencies.reset();
    dropped = 0;
  }

  private void countFrom(long nanos) {
    double most = patienceNanos / (double) DRAINED_AT_MOST;
    drains = DRAINED * median <= most;
    obeyedNanos = nanos;
    countsFromNanos = nanos + (long) Math.min(DRAINED * median, most);
  }
}
