package io.throttlekit.limit;

/**
 * A step of {@link ProbedVegasLimit} by Little's law: the requests in service are the throughput
 * times the latency without a queue, and the other ones below the limit are queued at the backend.
 *
 * @param limit next limit, not yet within its range
 * @param decreased whether the queue was too long
 */
record QueueStep(double limit, boolean decreased) {
  /** The limit is at most so many times the most in flight: an unused limit is unproven. */
  private static final int MAX_OF_IN_FLIGHT = 5;

  /**
   * Returns the next limit.
   *
   * @param limit current one
   * @param usable part of the limit that limiters apply, now or soon
   * @param applied mean limit below which the requests of the window began
   * @param inService throughput times the latency without a queue
   * @param maxInFlight most in flight in the window
   */
  static QueueStep of(
      double limit, double usable, double applied, double inService, int maxInFlight) {
    int k = Log10.of(limit);
    int beta = beta(limit);
    // two thirds of beta, rounded up: in the gap between the two the limit rests, else it would
    // oscillate between steps up and down
    int alpha = (2 * beta + 2) / 3;
    double queue = Math.max(0, Math.ceil(usable - inService));
    double seen = Math.min(queue, Math.ceil(applied - inService));
    // A limit that is less than half used is not raised.
    boolean inUse = 2.0 * maxInFlight >= limit && 2 * applied >= limit;
    double next = limit;
    if (seen > beta) {
      // A quarter per window: measured throughput lags, and the whole queue would be too much.
      next -= Math.max(k, (seen - beta) / 4);
    } else if (queue < alpha && inUse) {
      next += beta - queue;
    }
    double top = (double) MAX_OF_IN_FLIGHT * maxInFlight;
    if (next > top) {
      // Idle moments are short: an old limit above the bound falls in small steps.
      next = limit > top ? Math.max(limit - k, top) : top;
    }
    return new QueueStep(next, seen > beta);
  }

  /** Returns the queue that a limit may have: a third of it from 3 to 6, or a tenth if more. */
  static int beta(double limit) {
    // 3 and 6 as in VegasLimit; a third, so that small limits are not all queue; a tenth, so that
    // large ones keep enough of one. The simulator's results with these are in docs/CONCURRENCY.md.
    return Math.max(Math.clamp((int) (limit / 3), 3, 6), (int) (limit / 10));
  }
}
