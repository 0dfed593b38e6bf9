package io.throttlekit.limiter;

/** The reason why a request got no permit. */
public enum Refusal {
  /** The limit was reached, and this request does not wait. */
  LIMIT_REACHED,
  /**
   * The free permits are reserved for other tenants, its own has its part in flight, and this
   * request does not wait.
   */
  ABOVE_PART,
  /** The queue is full, or the request was rejected at random while it fills up. */
  QUEUE_FULL,
  /** Its level is below the threshold of the {@link Prioritizer}. */
  PRIORITY_TOO_LOW,
  /** The wait timed out. */
  WAITED_TOO_LONG,
  /** The limiter is closed, and no request may wait. */
  CLOSED
}
