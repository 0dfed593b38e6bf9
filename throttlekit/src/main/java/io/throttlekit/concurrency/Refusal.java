package io.throttlekit.concurrency;

/** Why a request got no permit. */
public enum Refusal {
  /** As many are in flight as may be, and this request does not wait. */
  CEILING_REACHED,
  /** As many wait as may, or it was drawn by lot among those who would have waited. */
  QUEUE_FULL,
  /** Its level is below the threshold of the {@link Prioritizer}. */
  PRIORITY_TOO_LOW,
  /** It waited as long as it may. */
  WAITED_TOO_LONG,
  /** The limiter was closed, and nobody waits there any more. */
  CLOSED
}
