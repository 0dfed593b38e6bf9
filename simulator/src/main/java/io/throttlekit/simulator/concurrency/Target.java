package io.throttlekit.simulator.concurrency;

import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * What a law ought to reach in a scenario.
 *
 * @param id which of the targets it belongs to; several figures may make one
 * @param what the figure in words
 * @param bound what is still right
 * @param atLeast whether more is better
 * @param figure found in the course of the scenario
 */
record Target(
    String id, String what, double bound, boolean atLeast, ToDoubleFunction<Course> figure) {
  private static final double LEAST = 0.00005;
  private static final double ROUNDING = 1e-9; // of sums of doubles

  static Target atLeast(String id, double bound, String what, ToDoubleFunction<Course> figure) {
    return new Target(id, what, bound, true, figure);
  }

  static Target atMost(String id, double bound, String what, ToDoubleFunction<Course> figure) {
    return new Target(id, what, bound, false, figure);
  }

  /** Whether it is reached. A figure that there is none of never is. */
  boolean reachedBy(double found) {
    return atLeast ? found >= bound - ROUNDING : found <= bound + ROUNDING;
  }

  /** Of several runs' figures, what counts. */
  double worse(double one, double other) {
    return atLeast ? Math.min(one, other) : Math.max(one, other);
  }

  /** The bound in words. */
  String wanted() {
    return (atLeast ? "≥ " : "≤ ") + shown(bound);
  }

  /** A figure, as short as it says something. */
  static String shown(double figure) {
    if (Math.abs(figure) >= LEAST && Math.abs(figure) < 0.01) {
      return String.format(Locale.ROOT, "%.4f", figure);
    }
    return String.format(Locale.ROOT, Math.abs(figure) >= 10 ? "%.0f" : "%.3f", figure);
  }
}
