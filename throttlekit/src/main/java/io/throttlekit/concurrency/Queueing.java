package io.throttlekit.concurrency;

/**
 * How many may wait for a permit, and how long. Both numbers of waiting requests follow the ceiling
 * that is in force, so that the same settings suit a slow backend and a fast one.
 *
 * @param initialFactor how many times the ceiling may wait before any is refused, from 1
 * @param maxFactor how many times the ceiling may wait at all, from {@code initialFactor}; between
 *     the two, requests are refused by lot, the more the more wait
 * @param longestWaitNanos how long one waits, from 1; {@link #FOR_EVER} for as long as it takes
 */
public record Queueing(double initialFactor, double maxFactor, long longestWaitNanos) {

  /** Until there is room. */
  public static final long FOR_EVER = Long.MAX_VALUE;

  /**
   * @throws IllegalArgumentException when a number is out of range
   */
  public Queueing {
    if (!(initialFactor >= 1 && maxFactor >= initialFactor) || longestWaitNanos < 1) {
      throw new IllegalArgumentException(
          "a queue needs 1 <= initialFactor <= maxFactor and longestWaitNanos of at least 1,"
              + " but they are "
              + initialFactor
              + ", "
              + maxFactor
              + " and "
              + longestWaitNanos);
    }
  }

  /** Where those wait for ever that there is room for. */
  public static Queueing of(double initialFactor, double maxFactor) {
    return new Queueing(initialFactor, maxFactor, FOR_EVER);
  }

  QueueFigures figures(int ceiling, int queued) {
    return new QueueFigures(
        ceiling, queued, (int) (ceiling * initialFactor), (int) (ceiling * maxFactor));
  }
}
