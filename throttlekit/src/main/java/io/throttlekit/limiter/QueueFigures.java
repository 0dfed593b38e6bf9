package io.throttlekit.limiter;

/**
 * The state of a queue, or of several added up.
 *
 * @param limit concurrency limit
 * @param queued waiting requests
 * @param threshold queue length from which some requests are refused
 * @param max queue length from which all requests are refused
 */
public record QueueFigures(long limit, long queued, long threshold, long max) {

  static final QueueFigures NONE = new QueueFigures(0, 0, 0, 0);

  /**
   * Returns the share of requests that would wait and is refused, from 0 to 1: 0 below the
   * threshold, 1 from {@code max} on, linear in between.
   */
  public double rejectionRate() {
    if (queued < threshold) {
      return 0;
    }
    // Where both bounds are equal, the first case avoids a division by 0.
    return queued >= max ? 1 : (double) (queued - threshold) / (max - threshold);
  }

  /** Returns the sum of both. */
  public QueueFigures plus(QueueFigures other) {
    return new QueueFigures(
        limit + other.limit, queued + other.queued, threshold + other.threshold, max + other.max);
  }
}
