package io.throttlekit.rate;

import io.throttlekit.Cost;
import io.throttlekit.Overrun;

/** The ranges in which every algorithm computes exactly, in Java's longs and in Lua's doubles. */
final class Range {
  private Range() {}

  static void checkLimit(long limit) {
    if (limit < 0 || limit > Cost.MAX) {
      throw new IllegalArgumentException("limit must be from 0 to 2^53-1, was " + limit);
    }
  }

  static void checkWindow(long windowMillis) {
    if (windowMillis < 1 || windowMillis > Cost.MAX) {
      throw new IllegalArgumentException(
          "window must be from 1 ms to 2^53-1 ms, was " + windowMillis);
    }
  }

  /** Checks that {@code units · millis} stays exact. */
  static void checkProduct(String what, long units, long millis) {
    if (units > Cost.MAX / millis) {
      throw new IllegalArgumentException(
          what + " of " + units + " is too large: at most " + Cost.MAX / millis + " here");
    }
  }

  /** Checks that there is at least one pair of numbers, and nothing else. */
  static void checkPairs(String what, long[] numbers) {
    if (numbers.length == 0 || numbers.length % 2 != 0) {
      throw new IllegalArgumentException(what + " is kept as pairs of numbers");
    }
  }

  /** Units that must be left for a charge of {@code cost} to be admitted; a peek looks for one. */
  static long needed(long cost, Overrun overrun) {
    return cost == 0 && overrun != Overrun.COUNT ? 1 : cost;
  }

  /** {@code a + b} for values from 0 to {@link Cost#MAX}, at most {@link Cost#MAX}. */
  static long saturatedSum(long a, long b) {
    return Math.min(Cost.MAX, a + b);
  }

  /** {@code a · b} for values from 0, at most {@link Cost#MAX}. */
  static long saturatedProduct(long a, long b) {
    return a != 0 && b > Cost.MAX / a ? Cost.MAX : a * b;
  }
}
