package io.throttlekit.simulator.concurrency;

import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * A bound that an algorithm should reach in a scenario.
 *
 * @param id target that it belongs to; a target may have several figures
 * @param what name of the figure
 * @param bound inclusive
 * @param atLeast whether larger figures are better
 * @param figure computed from the results of the scenario
 */
public record Target(
    String id, String what, double bound, boolean atLeast, ToDoubleFunction<Course> figure) {
  private static final double MIN_SHOWN = 0.00005; // smaller figures print as 0
  private static final double ROUNDING = 1e-9; // of sums of doubles

  static Target atLeast(String id, double bound, String what, ToDoubleFunction<Course> figure) {
    return new Target(id, what, bound, true, figure);
  }

  static Target atMost(String id, double bound, String what, ToDoubleFunction<Course> figure) {
    return new Target(id, what, bound, false, figure);
  }

  /** Returns whether the bound is reached. NaN never reaches it. */
  boolean reachedBy(double found) {
    return atLeast ? found >= bound - ROUNDING : found <= bound + ROUNDING;
  }

  /** Returns the worse of two runs' figures. */
  double worse(double one, double other) {
    return atLeast ? Math.min(one, other) : Math.max(one, other);
  }

  /** Returns the bound as text. */
  String wanted() {
    return (atLeast ? "≥ " : "≤ ") + shown(bound);
  }

  /** Formats a figure with as few digits as are meaningful. */
  public static String shown(double figure) {
    if (Math.abs(figure) >= MIN_SHOWN && Math.abs(figure) < 0.01) {
      return String.format(Locale.ROOT, "%.4f", figure);
    }
    return String.format(Locale.ROOT, Math.abs(figure) >= 10 ? "%.0f" : "%.3f", figure);
  }
}
