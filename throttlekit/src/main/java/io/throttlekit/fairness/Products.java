package io.throttlekit.fairness;

/** Exact quotients and comparisons of products that may exceed 64 bits. */
public final class Products {
  private Products() {}

  /**
   * Returns ⌊a · b / c⌋.
   *
   * @param a from 0 to c, at most 2^53
   * @param b from 0 to 2^53
   * @param c from 1 to 2^60
   */
  static long quotient(long a, long b, long c) {
    // Three roundings of at most 2^-53 each, of a quotient of at most 2^53: off by less than 5.
    long estimate = (long) ((double) a * b / c);
    // Both products may overflow. Their difference is within ±6 · 2^60, so it is exact.
    long rest = a * b - estimate * c;
    while (rest < 0) {
      estimate--;
      rest += c;
    }
    while (rest >= c) {
      estimate++;
      rest -= c;
    }
    return estimate;
  }

  /** Returns the sign of a · b − c · d, for numbers from 0. */
  public static int compare(long a, long b, long c, long d) {
    int high = Long.compare(Math.multiplyHigh(a, b), Math.multiplyHigh(c, d));
    return high != 0 ? high : Long.compareUnsigned(a * b, c * d);
  }
}
