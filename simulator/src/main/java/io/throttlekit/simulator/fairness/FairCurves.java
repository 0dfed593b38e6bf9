package io.throttlekit.simulator.fairness;

import java.util.List;
import java.util.Locale;

/**
 * Small curves of one scenario: a row for each sharing, with what each tenant is admitted in each
 * window, above its ideal part as an area. The drawing is readable in light and dark mode.
 */
final class FairCurves {
  private static final int NAMES = 150;
  private static final int WIDTH = 200;
  private static final int HEIGHT = 48;
  private static final int GAP = 14;
  private static final int TOP = 40;
  private static final List<String> STYLES = List.of("c", "f", "p", "g");

  private final StringBuilder svg = new StringBuilder();

  private FairCurves() {}

  /** Returns the drawing of the courses of one scenario as SVG. */
  static String of(List<FairCourse> courses) {
    FairCurves curves = new FairCurves();
    curves.begin(courses.getFirst().scenario(), courses.size());
    for (int i = 0; i < courses.size(); i++) {
      curves.row(courses.get(i), TOP + i * (HEIGHT + GAP));
    }
    return curves.svg.append("</svg>\n").toString();
  }

  private void begin(FairScenario scenario, int rows) {
    int width = NAMES + scenario.tenants().size() * (WIDTH + GAP);
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
        .b{stroke:#8c959f;stroke-width:.5}.i{fill:#8c959f;fill-opacity:.25}
        .c{stroke:#0969da}.f{stroke:#8250df}.g{stroke:#1a7f37}.p{stroke:#bc4c00}
        @media(prefers-color-scheme:dark){text{fill:#9198a1}
        .c{stroke:#58a6ff}.f{stroke:#bc8cff}.g{stroke:#3fb950}.p{stroke:#f0883e}}
        </style>
        """);
    add("<text x=\"0\" y=\"12\">%s; the area is the ideal part</text>%n", scenario.title());
    for (int i = 0; i < scenario.tenants().size(); i++) {
      String name = scenario.tenants().get(i).name();
      add("<text x=\"%d\" y=\"30\">%s, to %d</text>%n", left(i), name, scenario.limit());
    }
  }

  private void row(FairCourse course, int y) {
    add("<text x=\"0\" y=\"%d\">%s</text>%n", y + HEIGHT / 2 + 4, course.sharing().name());
    for (int tenant = 0; tenant < course.scenario().tenants().size(); tenant++) {
      int x = left(tenant);
      int drawn = tenant;
      add("<path class=\"i\" d=\"M%d %d", x, y + HEIGHT);
      steps(course, x, y, window -> course.ideal(window)[drawn]);
      add("V%dz\"/>%n", y + HEIGHT);
      add("<path class=\"b\" d=\"M%d %dv%dh%d\"/>%n", x, y, HEIGHT, WIDTH);
      add("<path class=\"%s\" d=\"M%d %d", STYLES.get(tenant % STYLES.size()), x, y + HEIGHT);
      steps(course, x, y, window -> course.admitted(drawn, window));
      add("\"/>%n");
    }
  }

  /** A figure of a window. */
  @FunctionalInterface
  private interface Figure {
    long of(int window);
  }

  private void steps(FairCourse course, int x, int y, Figure figure) {
    int windows = course.scenario().windows();
    for (int window = 0; window < windows; window++) {
      double share = Math.clamp((double) figure.of(window) / course.scenario().limit(), 0.0, 1.0);
      int at = y + HEIGHT - (int) Math.round(share * HEIGHT);
      add("V%dH%d", at, x + (window + 1) * WIDTH / windows);
    }
  }

  private static int left(int column) {
    return NAMES + column * (WIDTH + GAP);
  }

  private void add(String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format.replace("%n", "\n"), values));
  }
}
