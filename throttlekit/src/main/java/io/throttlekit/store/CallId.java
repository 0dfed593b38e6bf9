package io.throttlekit.store;

import java.security.SecureRandom;

/**
 * Identifies a call, so that one that is sent again takes effect once.
 *
 * <p>Of each sender and counter a store keeps the last number, and what it was answered, until the
 * window of that answer ends. The same number is answered the same again. A lower one is a copy
 * that was overtaken: its sender waits for it no more, and it has no effect. In another window the
 * number is new.
 *
 * @param sender of the numbers: one of the streams of one process, from 0 to 2^53 − 1
 * @param number grows with each new call of the sender, from 1 to 2^53 − 1
 */
public record CallId(long sender, long number) {
  private static final long MAX = (1L << 53) - 1;

  /** How many streams of numbers a process may have. */
  public static final int STREAMS = 8;

  /** Checks the ranges. */
  public CallId {
    if (sender < 0 || sender > MAX || number < 1 || number > MAX) {
      throw new IllegalArgumentException(
          "sender and number must be at most 2^53-1, were %d and %d".formatted(sender, number));
    }
  }

  /** Returns a sender at random: it and the {@link #STREAMS} − 1 after it belong to the caller. */
  public static long newSender() {
    return new SecureRandom().nextLong(1, MAX / STREAMS) * STREAMS;
  }
}
