package io.throttlekit.bench.command;

import java.util.List;

/** Median of measurements. */
public final class Median {
  private Median() {}

  /**
   * Returns the median, the mean of the two middle values when their number is even; NaN of none.
   */
  public static double of(List<Double> values) {
    if (values.isEmpty()) {
      return Double.NaN;
    }
    List<Double> sorted = values.stream().sorted().toList();
    int middle = sorted.size() / 2;
    return sorted.size() % 2 == 1
        ? sorted.get(middle)
        : (sorted.get(middle - 1) + sorted.get(middle)) / 2;
  }
}
