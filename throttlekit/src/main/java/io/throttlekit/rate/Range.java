package io.throttlekit.rate;

import io.throttlekit.Cost;
import io.throttlekit.Overrun;

/** The ranges in which every algorithm is exact, in Java's longs and in Lua's doubles. */
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

  /** Checks that {@code units · millis} is exact. */
  static void checkProduct(String what, long units, long millis) {
    if (units > Cost.MAX / millis) {
      throw new IllegalArgumentException(
          what + " of " + units + " is too large: at most " + Cost.MAX / millis + " here");
    }
  }

  /** Checks that the numbers form at least one pair, and that none is left over. */
  static void checkPairs(String what, long[] numbers) {
    if (numbers.length == 0 || numbers.length % 2 != 0) {
      throw new IllegalArgumentException(what + " is kept as pairs of numbers");
    }
  }

  /**
   * Returns the units that must remain for {@code cost} to be admitted. A peek needs one, except
   * under {@link Overrun#COUNT}.
   */
  static long needed(long cost, Overrun overrun) {
    return cost == 0 && overrun != Overrun.COUNT ? 1 : cost;
  }

  /** Returns the units that a refused charge counts: a peek none, even where overdrafts may. */
  static long debt(long cost, Overrun overrun) {
    return overrun == Overrun.REFUSE ? 0 : cost;
  }

  /** Returns {@code a + b}, at most {@link Cost#MAX}, for values from 0 to {@link Cost#MAX}. */
  static long saturatedSum(long a, long b) {
    return Math.min(Cost.MAX, a + b);
  }

  /** Returns {@code a · b}, at most {@link Cost#MAX}, for values from 0. */
  static long saturatedProduct(long a, long b) {
    // Compared by division: the product can overflow.
    return a != 0 && b > Cost.MAX / a ? Cost.MAX : a * b;
  }
}
