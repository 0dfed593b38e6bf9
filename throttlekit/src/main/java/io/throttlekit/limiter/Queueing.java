package io.throttlekit.limiter;

/**
 * The bounds of the queue for permits. Its length scales with the current concurrency limit, so
 * that the same settings suit slow and fast backends.
 *
 * @param initialFactor multiple of the limit that may wait before any request is refused, from 1
 * @param maxFactor multiple of the limit that may wait at most, from {@code initialFactor}; between
 *     the two, requests are refused at random, with a probability that grows with the queue
 * @param waitTimeoutNanos wait timeout in ns, from 1; {@link #NO_TIMEOUT} for none
 */
public record Queueing(double initialFactor, double maxFactor, long waitTimeoutNanos) {

  /** No wait timeout. */
  public static final long NO_TIMEOUT = Long.MAX_VALUE;

  /**
   * @throws IllegalArgumentException when a number is out of range
   */
  public Queueing {
    if (!(initialFactor >= 1 && maxFactor >= initialFactor) || waitTimeoutNanos < 1) {
      throw new IllegalArgumentException(
          "a queue needs 1 <= initialFactor <= maxFactor and waitTimeoutNanos of at least 1,"
              + " but they are %s, %s and %s"
                  .formatted(initialFactor, maxFactor, waitTimeoutNanos));
    }
  }

  /** Creates a queue without a wait timeout. */
  public static Queueing of(double initialFactor, double maxFactor) {
    return new Queueing(initialFactor, maxFactor, NO_TIMEOUT);
  }

  QueueFigures figures(int limit, int queued) {
    return new QueueFigures(
        limit, queued, (int) (limit * initialFactor), (int) (limit * maxFactor));
  }
}
