package io.throttlekit;

/**
 * The response of a counter to one charge.
 *
 * @param admitted whether the cost was within the remaining units
 * @param limit most units that the counter admits: per window, or as one burst
 * @param remaining units left after this charge, at most {@code limit}; below 0 only when a refused
 *     cost was charged nevertheless: by the part of it beyond the remaining units
 * @param resetAfterMillis ms until the counter is unused again, by the clock that decided: 0 if it
 *     is, at least 1 while a fixed window lasts
 * @param retryAfterMillis 0 when admitted; else the shortest wait in ms, at least 1, after which
 *     the same cost could be admitted without other charges, or {@link #NEVER}
 */
public record Decision(
    boolean admitted, long limit, long remaining, long resetAfterMillis, long retryAfterMillis) {

  /** The {@code retryAfterMillis} of a cost that exceeds the limit, however long the wait. */
  public static final long NEVER = Long.MAX_VALUE;

  /** Creates an admitted decision. */
  public static Decision admit(long limit, long remaining, long resetAfterMillis) {
    return new Decision(true, limit, remaining, resetAfterMillis, 0);
  }

  /** Creates a refused decision. */
  public static Decision refuse(
      long limit, long remaining, long resetAfterMillis, long retryAfterMillis) {
    return new Decision(false, limit, remaining, resetAfterMillis, retryAfterMillis);
  }

  /** Returns whether the cost is refused however long the caller waits. */
  public boolean neverFits() {
    return retryAfterMillis == NEVER;
  }
}
