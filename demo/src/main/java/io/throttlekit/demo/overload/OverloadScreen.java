package io.throttlekit.demo.overload;

import io.throttlekit.demo.load.Course;
import io.throttlekit.demo.load.Course.Figures;
import java.io.PrintStream;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/**
 * Shows the arms: curves that are redrawn on a terminal, elsewhere a line every few seconds. A
 * second is shown once the client timeout has passed after it.
 */
final class OverloadScreen {
  private static final String CLEAR_LINE = "\033[K";
  private static final int WIDTH = 12; // seconds of a curve, so that a row fits into 80 columns
  private static final int LINE_SECONDS = 5;
  private static final int CLIENT_TIMEOUT_SECONDS = 1; // timeout of clients, as in Overload

  private final PrintStream out;
  private final boolean terminal;
  private final Schedule schedule;
  private final String levels;
  private boolean drawn;

  OverloadScreen(PrintStream out, boolean terminal, Schedule schedule) {
    this.out = out;
    this.terminal = terminal;
    this.schedule = schedule;
    String blocks = "▁▂▃▄▅▆▇█";
    this.levels = out.charset().newEncoder().canEncode(blocks) ? blocks : "_.:-=+*#";
  }

  /** Shows the complete seconds after {@code elapsed} ones. */
  void show(int elapsed, Map<Limiter, Course> arms) {
    int complete = elapsed - CLIENT_TIMEOUT_SECONDS;
    if (complete < 1) {
      return;
    }
    if (terminal) {
      table(complete, arms);
    } else if (complete % LINE_SECONDS == 0) {
      line(complete, arms);
    }
    out.flush();
  }

  private void table(int complete, Map<Limiter, Course> arms) {
    if (drawn) {
      out.printf("\033[%dA", arms.size() + 2);
    }
    drawn = true;
    out.printf("%s%s%n", title(complete), CLEAR_LINE);
    out.printf(
        "%7s %-21s%-21s%-21s%8s%s%n",
        "", "answers in time / s", "p99, ms", "limit", "refused", CLEAR_LINE);
    arms.forEach((limiter, course) -> {
      Figures now = course.figures(complete - 1, complete);
      out.printf(
          "%7s %s%s%s%8d%s%n",
          limiter.word(),
          cell(course, complete, Figures::good),
          cell(course, complete, figures -> figures.p99Millis().orElse(0)),
          now.limit().isPresent()
              ? cell(course, complete, figures -> figures.limit().orElse(0))
              : "%7s %-13s".formatted("-", ""),
          now.refused(),
          CLEAR_LINE);
    });
  }

  private String title(int complete) {
    int second = complete - 1;
    return "  %d s of %d: %s".formatted(complete, schedule.seconds(), schedule.at(second).words());
  }

  /**
   * Formats the figure of the last second, and a curve of earlier ones scaled to its own maximum.
   */
  private String cell(Course course, int complete, ToDoubleFunction<Figures> figure) {
    StringBuilder curve = new StringBuilder();
    int from = Math.max(0, complete - WIDTH);
    double[] values = new double[complete - from];
    double highest = 1;
    for (int i = 0; i < values.length; i++) {
      values[i] = figure.applyAsDouble(course.figures(from + i, from + i + 1));
      highest = Math.max(highest, values[i]);
    }
    for (double value : values) {
      curve.append(levels.charAt((int) Math.round(value / highest * (levels.length() - 1))));
    }
    return String.format(Locale.ROOT, "%7.0f %-13s", values[values.length - 1], curve);
  }

  private void line(int complete, Map<Limiter, Course> arms) {
    String each =
        arms.entrySet().stream()
            .map(arm -> toText(arm.getKey(), arm.getValue().figures(complete - 1, complete)))
            .collect(Collectors.joining("; "));
    out.println(title(complete) + "; in this second " + each);
  }

  private static String toText(Limiter limiter, Figures second) {
    return "%s %d in time, %d refused, p99 %s ms, limit %s"
        .formatted(
            limiter.word(),
            second.good(),
            second.refused(),
            toText(second.p99Millis()),
            toText(second.limit()));
  }

  private static String toText(OptionalInt value) {
    return value.isPresent() ? Integer.toString(value.getAsInt()) : "-";
  }
}
