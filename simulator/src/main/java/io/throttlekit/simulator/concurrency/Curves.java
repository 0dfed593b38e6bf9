package io.throttlekit.simulator.concurrency;

import io.throttlekit.simulator.curves.CurveGrid;
import java.util.List;

/**
 * Small curves of one scenario: a row for each algorithm, with its limit, the most in flight,
 * goodput and p99 over time.
 *
 * <p>Values beyond the scale are drawn at its edge.
 */
final class Curves {
  private static final int WIDTH = 160;
  private static final int HEIGHT = 34;
  private static final int POINTS = 90;

  private static final List<Measure> MEASURES =
      List.of(
          new Measure("limit, to 100", 100, "c", Course::limit),
          new Measure("most in flight, to 100", 100, "f", Course::maxInFlight),
          new Measure("goodput, to 1", 1, "g", Course::goodput),
          new Measure("p99, to 200 ms", 200, "p", (run, from, to) -> run.latency(0.99, from, to)));

  /** A figure of a span of seconds. */
  @FunctionalInterface
  private interface Figure {
    double of(Course run, int from, int to);
  }

  /** The content of a column. */
  private record Measure(String title, double top, String style, Figure figure) {}

  private final CurveGrid grid;

  private Curves(CurveGrid grid) {
    this.grid = grid;
  }

  /** Returns the drawing as SVG. */
  static String of(Scenario scenario, List<ContenderResult> results) {
    List<String> columns = MEASURES.stream().map(Measure::title).toList();
    CurveGrid grid =
        new CurveGrid(
            scenario.title(), scenario.title(), columns, results.size(), WIDTH, HEIGHT, "");
    Curves curves = new Curves(grid);
    for (int i = 0; i < results.size(); i++) {
      curves.row(results.get(i), i);
    }
    return grid.end();
  }

  private void row(ContenderResult result, int row) {
    grid.name(row, result.contender().name());
    for (int i = 0; i < MEASURES.size(); i++) {
      panel(result, MEASURES.get(i), grid.left(i), grid.top(row));
    }
  }

  private void panel(ContenderResult result, Measure measure, int x, int y) {
    grid.add("<path class=\"b\" d=\"M%d %dv%dh%d", x, y, HEIGHT, WIDTH);
    int end = 0;
    for (Phase phase : result.scenario().plan().phases()) {
      end += phase.seconds();
      if (end < result.first().length()) { // marks the start of the next phase
        grid.add("M%d %dv%d", x + end * WIDTH / result.first().length(), y, HEIGHT);
      }
    }
    grid.add("\"/>%n<path class=\"%s\" d=\"", measure.style());
    line(result.first(), measure, x, y);
    grid.add("\"/>%n");
  }

  private void line(Course run, Measure measure, int x, int y) {
    int points = Math.min(POINTS, run.length());
    int lastX = 0;
    int lastY = 0;
    for (int i = 0; i < points; i++) {
      int from = i * run.length() / points;
      int to = (i + 1) * run.length() / points;
      double share = Math.clamp(measure.figure().of(run, from, to) / measure.top(), 0.0, 1.0);
      int toX = x + i * WIDTH / (points - 1);
      int toY = y + HEIGHT - (int) Math.round(share * HEIGHT);
      if (i == 0) {
        grid.add("M%d %dl", toX, toY);
      } else {
        grid.add(toY < lastY ? "%d%d" : "%d %d", toX - lastX, toY - lastY);
        grid.add(i < points - 1 ? " " : "");
      }
      lastX = toX;
      lastY = toY;
    }
  }
}
