package io.throttlekit.limit;

/**
 * The target of {@link ProbedVegasLimit}: with a queue at the backend, a limit that keeps servers
 * busy and the queue short; without a queue, room for bursts.
 *
 * <p>Both contain one request more than those in service, because a slot is free until the next
 * request comes. Arrivals vary around their mean by the square root of the requests in service and
 * of their dispersion.
 *
 * @param inService mean number of requests in service, from 0
 * @param dispersion of the arrivals, from 1 ({@link ArrivalDispersion})
 * @param peak most requests in flight lately
 */
record LimitTarget(double inService, double dispersion, double peak) {
  // Found by experiment: docs/adr/0019-queue-by-littles-law.md has runs without the
  // room, the dispersion and the bounds.

  /** Standard deviations of the arrivals that may queue. */
  private static final double QUEUED = 3.5;

  /**
   * The longest queue, as a multiple of the requests in service and of the root of the dispersion.
   */
  private static final double MAX_QUEUE = 1.2;

  /** Standard deviations of the arrivals for which there is room without a queue. */
  private static final double ROOM = 12.75;

  /** The least room without a queue, as a multiple of the requests in service. */
  private static final double MEAN_ROOM = 3;

  /** The most room, as a multiple of the peak: an unused limit is unproven. */
  private static final double PEAK_ROOM = 1.5;

  /** Requests beyond that multiple of the peak, so that the smallest limits rise. */
  private static final double FEW = 3;

  /**
   * Returns the limit, in between in proportion to the evidence of a queue.
   *
   * @param queued the evidence of a queue, from 0 (none) to 1 (certain)
   */
  double at(double queued) {
    double without = withoutQueue();
    return without + queued * (behindQueue() - without);
  }

  /** Returns the limit with a queue at the backend. */
  double behindQueue() {
    double queue = Math.min(QUEUED * deviation(), MAX_QUEUE * inService * Math.sqrt(dispersion));
    return 1 + inService + queue;
  }

  /** Returns how many requests in flight make this the limit without a queue, at least. */
  static int peakFor(int limit) {
    return (int) Math.max(1, Math.ceil((limit - FEW) / PEAK_ROOM));
  }

  private double withoutQueue() {
    double room = 1 + Math.max(MEAN_ROOM * inService, inService + ROOM * deviation());
    return Math.max(behindQueue(), Math.min(PEAK_ROOM * peak + FEW, room));
  }

  private double deviation() {
    return Math.sqrt(inService * dispersion);
  }
}
