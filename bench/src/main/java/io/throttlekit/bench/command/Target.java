package io.throttlekit.bench.command;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A measured figure and its target.
 *
 * @param what the figure, with its unit
 * @param measured the figure
 * @param bound the target
 * @param most whether the bound is a maximum; else it is a minimum
 */
public record Target(String what, double measured, double bound, boolean most) {

  public static Target atMost(String what, double bound, double measured) {
    return new Target(what, measured, bound, true);
  }

  public static Target atLeast(String what, double bound, double measured) {
    return new Target(what, measured, bound, false);
  }

  public boolean reached() {
    return most ? measured <= bound : measured >= bound;
  }

  /**
   * Checks that all targets are reached, after they were printed.
   *
   * @throws IllegalStateException with one line that names the missed ones
   */
  public static void require(List<Target> targets) {
    String missed =
        targets.stream()
            .filter(target -> !target.reached())
            .map(Target::what)
            .collect(Collectors.joining("; "));
    if (!missed.isEmpty()) {
      throw new IllegalStateException("missed: " + missed);
    }
  }

  /** Returns a row of a Markdown table: what, measured, target, whether reached. */
  String row() {
    return String.format(
        Locale.ROOT,
        "| %s | %.3f | %s %s | %s |",
        what,
        measured,
        most ? "≤" : "≥",
        bound,
        reached() ? "yes" : "no");
  }

  /** Returns a JSON object. */
  public String json() {
    return String.format(
        Locale.ROOT,
        "{\"what\":\"%s\",\"measured\":%s,\"%s\":%s,\"reached\":%s}",
        what,
        Double.isFinite(measured) ? String.format(Locale.ROOT, "%.4f", measured) : "null",
        most ? "at_most" : "at_least",
        bound,
        reached());
  }

  /** Returns a Markdown table of targets. */
  public static String table(Iterable<Target> targets) {
    StringBuilder table =
        new StringBuilder("| figure | measured | target | reached |\n|---|---|---|---|\n");
    targets.forEach(target -> table.append(target.row()).append('\n'));
    return table.toString();
  }

  /** Returns a JSON array of targets. */
  public static String jsonArray(Iterable<Target> targets) {
    StringBuilder array = new StringBuilder("[");
    for (Target target : targets) {
      array.append(array.length() == 1 ? "" : ",").append(target.json());
    }
    return array.append(']').toString();
  }
}
