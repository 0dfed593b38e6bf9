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

  // The next ones were found by experiment: docs/CONCURRENCY.md has the simulator's results.

  /** The multiple of the most in flight that is kept free for bursts while none is refused. */
  private static final double ROOM = 2;

  /** The same, of the most in flight of the last minute or so. */
  private static final double PEAK_ROOM = 1.5;

  /**
   * The multiple of the mean in flight that is kept free at most. In a window that had a queue for
   * a moment, the most in flight is that queue: a limit that follows it is too high for the next
   * overload, and a second or two late when it falls.
   */
  private static final double MEAN_ROOM = 3;

  /** And that many more: of few requests, the most in flight is further from the mean. */
  private static final double FEW_ROOM = 20;

  /**
   * The factor by which a limit rises at most; doubling overshoots where capacity rises in steps.
   */
  private static final double MAX_RISE = 1.5;

  /** The same until the first queue that was too long: the initial limit is only a guess. */
  private static final double SLOW_START_RISE = 2; // as TCP's slow start

  /**
   * The queue, as a share of the limit, that is chance: latencies of a few hundred requests are off
   * by as much.
   */
  private static final double CHANCE = 0.05;

  /** The least share of the excess queue that a step removes. */
  private static final double MIN_SHARE = 0.35;

  /** The greatest one: measured throughput lags, and the whole excess would be too much. */
  private static final double MAX_SHARE = 0.5;

  /** The multiple of the unused slots that the queue may be longer. */
  private static final double MORE = 4;

  /** The queue may be so many times longer if slots are unused. */
  private static final int MAX_MORE = 4;

  /** But not longer than this multiple of the requests in service. */
  private static final double MAX_QUEUE = 0.8;

  /**
   * The requests below the limit.
   *
   * @param limit current limit
   * @param usable part of the limit that limiters apply, now or soon
   * @param applied mean limit below which the requests of the window began
   * @param inService throughput times the latency without a queue
   */
  record Load(double limit, double usable, double applied, double inService) {

    /** Returns how many times longer the latency is than without a queue. */
    double stretch() {
      return applied / inService;
    }
  }

  /**
   * Returns the next limit.
   *
   * @param slowStart whether no queue has been too long since the start
   */
  static QueueStep of(Load load, LimitUsage usage, boolean slowStart) {
    double limit = load.limit;
    int k = Log10.of(limit);
    int beta = beta(limit, load.inService, usage);
    // two thirds of beta, rounded up: in the gap between the two the limit rests, else it would
    // oscillate between steps up and down
    int alpha = (2 * beta + 2) / 3;
    double queue = Math.max(0, Math.ceil(load.usable - load.inService));
    double seen = Math.min(queue, Math.ceil(load.applied - load.inService));
    // A limit that is less than half used is not raised.
    boolean inUse = 2.0 * usage.maxInFlight() >= limit && 2 * load.applied >= limit;
    double most = Math.max(ROOM * usage.maxInFlight(), PEAK_ROOM * usage.peak());
    double room = Math.min(most, MEAN_ROOM * usage.meanInFlight() + FEW_ROOM);
    double next = limit;
    if (seen > beta) {
      double share = Math.clamp((load.stretch() - 1) / 4, MIN_SHARE, MAX_SHARE);
      next -= Math.max(k, (seen - beta) * share);
      if (!usage.full()) { // requests that are slow for another reason must not be refused
        next = Math.max(next, Math.min(limit, room));
      }
    } else if (queue < alpha && inUse) {
      if (usage.saturated()) { // else the limit was not full, and Little's law yields no queue
        next += beta - queue;
      }
      if (usage.crowded() && queue <= CHANCE * limit) { // far below the capacity
        next = Math.max(next, (slowStart ? SLOW_START_RISE : MAX_RISE) * limit);
      } else if (!usage.full()) {
        next = Math.max(next, Math.min(room, MAX_RISE * limit));
      }
    }
    double top = (double) MAX_OF_IN_FLIGHT * usage.maxInFlight();
    if (next > top) {
      // Idle moments are short: an old limit above the bound falls in small steps.
      next = limit > top ? Math.max(limit - k, top) : top;
    }
    return new QueueStep(next, seen > beta);
  }

  /**
   * Returns the queue that a limit may have: a third of it from 4 to 6, or a tenth if more. Where
   * arrivals leave slots unused although others are refused, a longer queue keeps servers busy.
   */
  static int beta(double limit, double inService, LimitUsage usage) {
    // 4 and 6 are close to VegasLimit's 3 and 6; a third, so that small limits are not all queue; a
    // tenth, so that large ones keep enough of one.
    int beta = Math.max(Math.clamp((int) (limit / 3), 4, 6), (int) (limit / 10));
    double more = Math.min(MORE * usage.unused(), (MAX_MORE - 1) * beta);
    return beta + (int) Math.clamp(MAX_QUEUE * inService - beta, 0, more);
  }
}
