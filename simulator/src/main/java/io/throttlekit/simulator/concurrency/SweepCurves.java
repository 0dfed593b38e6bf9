package io.throttlekit.simulator.concurrency;

import io.throttlekit.simulator.curves.CurveGrid;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * Goodput over load: a row of panels for each start, backend and goal, a column for each sensor,
 * and a curve for each algorithm and for the best fixed limit.
 *
 * <p>Values below the scale are drawn at its edge.
 */
final class SweepCurves {
  private static final int WIDTH = 300;
  private static final int HEIGHT = 150;
  private static final int LINE = 16; // from one text to the next
  private static final int TEXT = 11; // height of a text, half the width of a number
  private static final double FROM = 0.5; // goodput at the lower edge
  private static final String BEST_STYLE = "g";
  private static final List<String> STYLES = List.of("c", "f", "p", "d", "e", "h");
  private static final String MORE_STYLES =
      "\n.d{stroke:#bf3989}.e{stroke:#9a6700}.h{stroke:#57606a}";

  private final CurveGrid grid;
  private final List<Contender> contenders;
  private final double least;
  private final double most;

  private SweepCurves(CurveGrid grid, List<Sweep.Step> steps) {
    this.grid = grid;
    this.contenders = steps.stream().map(Sweep.Step::contender).distinct().toList();
    this.least = steps.stream().mapToDouble(Sweep.Step::load).min().orElseThrow();
    this.most = steps.stream().mapToDouble(Sweep.Step::load).max().orElseThrow();
  }

  /** Returns the drawing as SVG. */
  static String of(List<Sweep.Step> steps) {
    List<Sweep.Row> rows = steps.stream().map(Sweep.Step::row).distinct().toList();
    List<String> names = rows.stream().map(SweepCurves::name).distinct().toList();
    List<Boolean> sensors = rows.stream().map(Sweep.Row::logged).distinct().toList();
    List<String> columns = sensors.stream().map(logged -> logged ? "logged" : "exact").toList();
    String title = "Goodput at each load around the capacity";
    CurveGrid grid = new CurveGrid(title, title, columns, names.size(), WIDTH, HEIGHT, MORE_STYLES);
    SweepCurves curves = new SweepCurves(grid, steps);
    for (int i = 0; i < names.size(); i++) {
      grid.name(i, names.get(i));
    }
    for (Sweep.Row row : rows) {
      curves.panel(
          steps.stream().filter(step -> step.row().equals(row)).toList(),
          grid.left(sensors.indexOf(row.logged())),
          grid.top(names.indexOf(name(row))));
    }
    curves.legend();
    return grid.end();
  }

  private static String name(Sweep.Row row) {
    return row.name().substring(0, row.name().lastIndexOf(' ')); // without the sensor
  }

  private void panel(List<Sweep.Step> steps, int x, int y) {
    grid.add("<path class=\"b\" d=\"M%d %dv%dh%d", x, y, HEIGHT, WIDTH);
    grid.add("M%d %dv%d\"/>%n", x + across(1), y, HEIGHT); // the capacity
    text(x + 3, y + 10, 1);
    text(x + 3, y + HEIGHT - 4, FROM);
    text(x, y + HEIGHT + TEXT, least);
    text(x + across(1) - TEXT, y + HEIGHT + TEXT, 1);
    text(x + WIDTH - 2 * TEXT, y + HEIGHT + TEXT, most);
    for (int i = 0; i < contenders.size(); i++) {
      Contender contender = contenders.get(i);
      List<Sweep.Step> own =
          steps.stream().filter(step -> step.contender().equals(contender)).toList();
      line(own, Sweep.Step::goodput, style(i), x, y);
      if (i == 0) { // the best fixed limit is the same beside each algorithm
        line(own, Sweep.Step::bestGoodput, BEST_STYLE, x, y);
      }
    }
  }

  private void line(
      List<Sweep.Step> steps, ToDoubleFunction<Sweep.Step> figure, String style, int x, int y) {
    grid.add("<path class=\"%s\" d=\"", style);
    for (int i = 0; i < steps.size(); i++) {
      double share = Math.clamp((figure.applyAsDouble(steps.get(i)) - FROM) / (1 - FROM), 0.0, 1.0);
      int toY = y + HEIGHT - (int) Math.round(share * HEIGHT);
      grid.add("%s%d %d", i == 0 ? "M" : "L", x + across(steps.get(i).load()), toY);
    }
    grid.add("\"/>%n");
  }

  /** Names the curves, below the name of the first row. */
  private void legend() {
    int y = grid.top(0) + HEIGHT / 2 + LINE;
    for (int i = 0; i < contenders.size(); i++) {
      y += LINE;
      legend(contenders.get(i).name().replace(", windowed", ""), style(i), y); // or it is too long
    }
    legend("best fixed limit", BEST_STYLE, y + LINE);
  }

  private void legend(String name, String style, int y) {
    grid.add("<path class=\"%s\" d=\"M0 %dh10\"/>%n", style, y);
    grid.add("<text x=\"14\" y=\"%d\">%s</text>%n", y + 4, name);
  }

  private int across(double load) {
    return (int) Math.round((load - least) / (most - least) * WIDTH);
  }

  private static String style(int contender) {
    return STYLES.get(contender % STYLES.size());
  }

  private void text(int x, int y, double figure) {
    grid.add("<text x=\"%d\" y=\"%d\">%.2f</text>%n", x, y, figure);
  }
}
