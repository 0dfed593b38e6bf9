package io.throttlekit.concurrency;

/**
 * How full a queue is, or several taken together.
 *
 * @param ceiling how many may be in flight
 * @param queued how many wait
 * @param threshold from how many waiting on some are refused
 * @param most from how many waiting on all are refused
 */
public record QueueFigures(long ceiling, long queued, long threshold, long most) {

  static final QueueFigures NONE = new QueueFigures(0, 0, 0, 0);

  /**
   * What part of the requests that would wait is refused, from 0 to 1: none below the threshold,
   * all from {@code most} on, and in between as far as the queue has come on its way.
   */
  public double rejectionRate() {
    if (queued < threshold) {
      return 0;
    }
    return queued >= most ? 1 : (double) (queued - threshold) / (most - threshold);
  }

  /** Both taken together. */
  public QueueFigures plus(QueueFigures other) {
    return new QueueFigures(
        ceiling + other.ceiling,
        queued + other.queued,
        threshold + other.threshold,
        most + other.most);
  }
}
