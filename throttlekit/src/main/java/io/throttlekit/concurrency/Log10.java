package io.throttlekit.concurrency;

/** The step size k = max(1, ⌊log10 limit⌋): 1 below 100, 2 below 1000, and so on. */
final class Log10 {
  private Log10() {}

  /**
   * @param ceiling from 0
   */
  static int of(double ceiling) {
    return ceiling < 100 ? 1 : ceiling < 1000 ? 2 : (int) Math.log10(ceiling);
  }
}
