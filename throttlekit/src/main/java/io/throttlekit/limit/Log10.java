package io.throttlekit.limit;

/** The step size k = max(1, ⌊log10 limit⌋): 1 below 100, 2 below 1000, and so on. */
public final class Log10 {
  private Log10() {}

  /**
   * @param limit from 0
   */
  public static int of(double limit) {
    return limit < 100 ? 1 : limit < 1000 ? 2 : (int) Math.log10(limit);
  }

  /**
   * Returns the limit after too many drops, which have no usable latency: a tenth less, and at
   * least one step, because a tenth of a small limit would not change it.
   */
  static double afterDrops(double limit) {
    return limit - Math.max(of(limit), limit / 10);
  }
}
