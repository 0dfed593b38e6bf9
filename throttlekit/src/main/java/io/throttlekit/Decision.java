package io.throttlekit;

/**
 * What a counter answered to one charge.
 *
 * @param admitted whether the cost was within what was left
 * @param limit units that the counter admits at most: per window, or as one burst
 * @param remaining units still left after this charge, at most {@code limit}; below 0 only when a
 *     refused cost was charged all the same: by the part of it beyond what was left
 * @param resetAfterMillis ms until the counter is whole again, by the clock that decided: 0 when it
 *     is, at least 1 while a fixed window lasts
 * @param retryAfterMillis 0 when admitted; else the shortest wait in ms, at least 1, after which
 *     the same cost could be admitted if nobody else charged, or {@link #NEVER}
 */
public record Decision(
    boolean admitted, long limit, long remaining, long resetAfterMillis, long retryAfterMillis) {

  /** The {@code retryAfterMillis} of a cost that no waiting makes fit. */
  public static final long NEVER = Long.MAX_VALUE;

  /** An admitted charge. */
  public static Decision admit(long limit, long remaining, long resetAfterMillis) {
    return new Decision(true, limit, remaining, resetAfterMillis, 0);
  }

  /** A refused charge. */
  public static Decision refuse(
      long limit, long remaining, long resetAfterMillis, long retryAfterMillis) {
    return new Decision(false, limit, remaining, resetAfterMillis, retryAfterMillis);
  }

  /** Whether this refusal stands however long the caller waits. */
  public boolean neverFits() {
    return retryAfterMillis == NEVER;
  }
}
