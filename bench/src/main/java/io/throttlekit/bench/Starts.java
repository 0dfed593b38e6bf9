package io.throttlekit.bench;

import io.throttlekit.bench.command.Median;
import io.throttlekit.bench.command.Target;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A figure that is measured at each of several starts; its target applies to the median. */
final class Starts {
  private final String what;
  private final double bound;
  private final boolean most;
  private final List<Double> values = new ArrayList<>();

  private Starts(String what, double bound, boolean most) {
    this.what = what;
    this.bound = bound;
    this.most = most;
  }

  static Starts atMost(String what, double bound) {
    return new Starts(what, bound, true);
  }

  static Starts atLeast(String what, double bound) {
    return new Starts(what, bound, false);
  }

  void add(double value) {
    values.add(value);
  }

  /** Returns the median and its bound. */
  Target target() {
    return new Target(what, Median.of(values), bound, most);
  }

  /** Returns a Markdown table of the lowest, the median and the highest of each. */
  static String table(List<Starts> figures) {
    return figures.stream()
        .map(f -> "| " + f.what + f.of(" | %.3f | %.3f | %.3f |\n"))
        .collect(
            Collectors.joining(
                "", "| figure | lowest | median | highest |\n|---|---|---|---|\n", ""));
  }

  /** Returns a JSON array of the same. */
  static String json(List<Starts> figures) {
    return figures.stream()
        .map(f ->
            "{\"what\":\"" + f.what + f.of("\",\"lowest\":%.4f,\"median\":%.4f,\"highest\":%.4f}"))
        .collect(Collectors.joining(",", "[", "]"));
  }

  private String of(String format) {
    return String.format(
        Locale.ROOT, format, Collections.min(values), Median.of(values), Collections.max(values));
  }
}
