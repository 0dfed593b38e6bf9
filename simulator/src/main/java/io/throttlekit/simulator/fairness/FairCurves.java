package io.throttlekit.simulator.fairness;

import io.throttlekit.simulator.curves.CurveGrid;
import java.util.List;
import java.util.function.IntToLongFunction;

/**
 * Small curves of one scenario: a row for each sharing, with what each tenant is admitted in each
 * window, above its ideal part as an area.
 */
final class FairCurves {
  private static final int WIDTH = 200;
  private static final int HEIGHT = 48;
  private static final List<String> STYLES = List.of("c", "f", "p", "g");

  private final CurveGrid grid;

  private FairCurves(CurveGrid grid) {
    this.grid = grid;
  }

  /** Returns the drawing of the courses of one scenario as SVG. */
  static String of(List<FairCourse> courses) {
    FairScenario scenario = courses.getFirst().scenario();
    List<String> tenants =
        scenario.tenants().stream()
            .map(tenant -> tenant.name() + ", to " + scenario.limit())
            .toList();
    CurveGrid grid =
        new CurveGrid(
            scenario.title(),
            scenario.title() + "; the area is the ideal part",
            tenants,
            courses.size(),
            WIDTH,
            HEIGHT,
            ".i{fill:#8c959f;fill-opacity:.25}");
    FairCurves curves = new FairCurves(grid);
    for (int i = 0; i < courses.size(); i++) {
      curves.row(courses.get(i), i);
    }
    return grid.end();
  }

  private void row(FairCourse course, int row) {
    grid.name(row, course.sharing().name());
    int y = grid.top(row);
    for (int tenant = 0; tenant < course.scenario().tenants().size(); tenant++) {
      int x = grid.left(tenant);
      int drawn = tenant;
      grid.add("<path class=\"i\" d=\"M%d %d", x, y + HEIGHT);
      steps(course, x, y, window -> course.ideal(window)[drawn]);
      grid.add("V%dz\"/>%n", y + HEIGHT);
      grid.add("<path class=\"b\" d=\"M%d %dv%dh%d\"/>%n", x, y, HEIGHT, WIDTH);
      grid.add("<path class=\"%s\" d=\"M%d %d", STYLES.get(tenant % STYLES.size()), x, y + HEIGHT);
      steps(course, x, y, window -> course.admitted(drawn, window));
      grid.add("\"/>%n");
    }
  }

  /** Draws a figure of each window. */
  private void steps(FairCourse course, int x, int y, IntToLongFunction figure) {
    int windows = course.scenario().windows();
    for (int window = 0; window < windows; window++) {
      long units = figure.applyAsLong(window);
      double share = Math.clamp((double) units / course.scenario().limit(), 0.0, 1.0);
      int at = y + HEIGHT - (int) Math.round(share * HEIGHT);
      grid.add("V%dH%d", at, x + (window + 1) * WIDTH / windows);
    }
  }
}
