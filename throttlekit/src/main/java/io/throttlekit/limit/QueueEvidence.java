package io.throttlekit.limit;

/**
 * How likely it is that requests queue at the backend, from the last windows. Not thread-safe.
 *
 * <p>The queue is compared with the square root of the requests in service, by which their number
 * varies by chance.
 */
final class QueueEvidence {
  /** The weight of a window of many requests in the mean. */
  private static final double WEIGHT = 0.3;

  /** The requests of a window that has half of the weight. */
  private static final double HALF_WEIGHT_REQUESTS = 50;

  /** The mean from which a queue is certain, in standard deviations. */
  private static final double CERTAIN = 2;

  /** The queue of a window that is no chance, in standard deviations. */
  private static final double QUEUED = 1;

  private double queue;
  private double mean;

  /**
   * Adds a window.
   *
   * @param others mean number of other requests in flight
   * @param inService mean number of requests in service, above 0
   * @param trust from 0 to 1, how far more requests in flight are a queue, and not the backend's
   *     own latency
   * @param requests number of requests in the window, from 1
   */
  void add(double others, double inService, double trust, int requests) {
    queue = queue(others, inService);
    mean += WEIGHT * requests / (requests + HALF_WEIGHT_REQUESTS) * (trust * queue - mean);
  }

  /**
   * Returns whether too many requests are in flight to be there by chance.
   *
   * @param others mean number of other requests in flight
   * @param inService mean number of requests in service, above 0
   */
  static boolean isQueued(double others, double inService) {
    return queue(others, inService) >= QUEUED;
  }

  private static double queue(double others, double inService) {
    return Math.max(0, others - inService) / Math.sqrt(inService);
  }

  /** Records that the backend serves less than it is sent. */
  void overloaded() {
    mean = Math.max(mean, CERTAIN);
  }

  /** Returns whether too many requests were in flight in the last window to be there by chance. */
  boolean isQueued() {
    return queue >= QUEUED;
  }

  /** Returns the evidence of all windows, from 0 (none) to 1 (certain). */
  double value() {
    return Math.min(1, mean / CERTAIN);
  }
}
