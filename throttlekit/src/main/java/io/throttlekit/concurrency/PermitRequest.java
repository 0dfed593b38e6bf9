package io.throttlekit.concurrency;

import org.jspecify.annotations.Nullable;

/**
 * Who asks for a permit.
 *
 * @param level how important it is, from 0 to {@link Priority#MAX_LEVEL}; counts where the limiter
 *     has a {@link Prioritizer}
 * @param user whose usage it is, where the prioritizer counts that; null when nobody's
 * @param longestWaitNanos how long it may wait at most, from 0, which is not at all; counts where
 *     the limiter would let it wait longer
 */
public record PermitRequest(int level, @Nullable String user, long longestWaitNanos) {

  /** A request of nobody in particular, of the lowest level, that waits as long as others. */
  public static final PermitRequest PLAIN = new PermitRequest(0, null, Queueing.FOR_EVER);

  /**
   * @throws IllegalArgumentException when a number is out of range
   */
  public PermitRequest {
    if (level < 0 || level > Priority.MAX_LEVEL || longestWaitNanos < 0) {
      throw new IllegalArgumentException(
          "level must be from 0 to "
              + Priority.MAX_LEVEL
              + " and longestWaitNanos at least 0, were "
              + level
              + " and "
              + longestWaitNanos);
    }
  }

  /** A request of nobody in particular that waits as long as others of its level. */
  public static PermitRequest of(int level) {
    return new PermitRequest(level, null, Queueing.FOR_EVER);
  }
}
