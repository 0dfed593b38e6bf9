package io.throttlekit.simulator.concurrency;

import java.util.List;
import java.util.Locale;

/**
 * Small curves of one scenario: a row for each algorithm, with its limit, the most in flight,
 * goodput and p99 over time. The drawing is readable in light and dark mode.
 *
 * <p>Values beyond the scale are drawn at its edge.
 */
final class Curves {
  private static final int NAMES = 150;
  private static final int WIDTH = 160;
  private static final int HEIGHT = 34;
  private static final int GAP = 14;
  private static final int TOP = 40;
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

  private final StringBuilder svg = new StringBuilder();

  private Curves() {}

  /** Returns the drawing as SVG. */
  static String of(Scenario scenario, List<ContenderResult> results) {
    Curves curves = new Curves();
    curves.begin(scenario, results.size());
    for (int i = 0; i < results.size(); i++) {
      curves.row(results.get(i), TOP + i * (HEIGHT + GAP));
    }
    return curves.svg.append("</svg>\n").toString();
  }

  private void begin(Scenario scenario, int rows) {
    int width = NAMES + MEASURES.size() * (WIDTH + GAP);
    int height = TOP + rows * (HEIGHT + GAP);
    add(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">%n",
        width, height);
    add("<title>%s</title>%n", scenario.title());
    svg.append(
        """
        <style>
        text{font:11px sans-serif;fill:#57606a}
        path{fill:none;stroke-width:1.3;stroke-linejoin:round}
        .b{stroke:#8c959f;stroke-width:.5}
        .c{stroke:#0969da}.f{stroke:#8250df}.g{stroke:#1a7f37}.p{stroke:#bc4c00}
        @media(prefers-color-scheme:dark){text{fill:#9198a1}
        .c{stroke:#58a6ff}.f{stroke:#bc8cff}.g{stroke:#3fb950}.p{stroke:#f0883e}}
        </style>
        """);
    add("<text x=\"0\" y=\"12\">%s</text>%n", scenario.title());
    for (int i = 0; i < MEASURES.size(); i++) {
      add("<text x=\"%d\" y=\"30\">%s</text>%n", left(i), MEASURES.get(i).title());
    }
  }

  private void row(ContenderResult result, int y) {
    add("<text x=\"0\" y=\"%d\">%s</text>%n", y + HEIGHT / 2 + 4, result.contender().name());
    for (int i = 0; i < MEASURES.size(); i++) {
      panel(result, MEASURES.get(i), left(i), y);
    }
  }

  private void panel(ContenderResult result, Measure measure, int x, int y) {
    add("<path class=\"b\" d=\"M%d %dv%dh%d", x, y, HEIGHT, WIDTH);
    int end = 0;
    for (Phase phase : result.scenario().plan().phases()) {
      end += phase.seconds();
      if (end < result.first().length()) { // marks the start of the next phase
        add("M%d %dv%d", x + end * WIDTH / result.first().length(), y, HEIGHT);
      }
    }
    add("\"/>%n<path class=\"%s\" d=\"", measure.style());
    line(result.first(), measure, x, y);
    add("\"/>%n");
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
        add("M%d %dl", toX, toY);
      } else {
        add(toY < lastY ? "%d%d" : "%d %d", toX - lastX, toY - lastY);
        svg.append(i < points - 1 ? " " : "");
      }
      lastX = toX;
      lastY = toY;
    }
  }

  private static int left(int column) {
    return NAMES + column * (WIDTH + GAP);
  }

  private void add(String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format.replace("%n", "\n"), values));
  }
}
