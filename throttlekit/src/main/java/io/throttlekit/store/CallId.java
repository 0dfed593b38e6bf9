package io.throttlekit.store;

import java.security.SecureRandom;

/**
 * The id of a call, so that a repeated call takes effect once.
 *
 * <p>For each sender and counter, a store keeps the last number and its answer until the window of
 * that answer ends. The same number gets the same answer. A lower number is an overtaken copy,
 * which its sender no longer waits for; it has no effect. In another window the number is new.
 *
 * @param sender one of the number streams of one process, from 0 to 2^53 − 1
 * @param number grows with each new call of the sender, from 1 to 2^53 − 1
 */
public record CallId(long sender, long number) {
  // the largest integer that is exact as a double, which Lua computes with
  private static final long MAX = (1L << 53) - 1;

  /** The number of streams that a process may have. */
  public static final int STREAMS = 8;

  /** Checks the ranges. */
  public CallId {
    if (sender < 0 || sender > MAX || number < 1 || number > MAX) {
      throw new IllegalArgumentException(
          "sender and number must be at most 2^53-1, were %d and %d".formatted(sender, number));
    }
  }

  /** Returns a random sender; it and the next {@link #STREAMS} − 1 senders belong to the caller. */
  public static long newSender() {
    return new SecureRandom().nextLong(1, MAX / STREAMS) * STREAMS;
  }
}
