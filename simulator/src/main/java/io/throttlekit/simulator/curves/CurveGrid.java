package io.throttlekit.simulator.curves;

import java.util.List;
import java.util.Locale;

/**
 * Small curves in rows and columns, as SVG that is readable in light and dark mode. Coordinates are
 * in pixels. Paths have the classes {@code c}, {@code f}, {@code g} and {@code p}, which differ in
 * color, or {@code b} for axes. Not thread-safe.
 */
public final class CurveGrid {
  private static final int NAMES = 150;
  private static final int GAP = 14;
  private static final int TOP = 40;

  private final int width;
  private final int height;
  private final StringBuilder svg = new StringBuilder();

  /**
   * Begins a drawing.
   *
   * @param heading above the curves
   * @param columns titles of the columns
   * @param width of a column, without gaps
   * @param height of a row, without gaps
   * @param styles rules of CSS for further classes, or ""
   */
  public CurveGrid(
      String title,
      String heading,
      List<String> columns,
      int rows,
      int width,
      int height,
      String styles) {
    this.width = width;
    this.height = height;
    add(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\">%n",
        left(columns.size()), top(rows));
    add("<title>%s</title>%n", title);
    svg.append(
        """
        <style>
        text{font:11px sans-serif;fill:#57606a}
        path{fill:none;stroke-width:1.3;stroke-linejoin:round}
        .b{stroke:#8c959f;stroke-width:.5}STYLES
        .c{stroke:#0969da}.f{stroke:#8250df}.g{stroke:#1a7f37}.p{stroke:#bc4c00}
        @media(prefers-color-scheme:dark){text{fill:#9198a1}
        .c{stroke:#58a6ff}.f{stroke:#bc8cff}.g{stroke:#3fb950}.p{stroke:#f0883e}}
        </style>
        """
            .replace("STYLES", styles));
    add("<text x=\"0\" y=\"12\">%s</text>%n", heading);
    for (int i = 0; i < columns.size(); i++) {
      add("<text x=\"%d\" y=\"30\">%s</text>%n", left(i), columns.get(i));
    }
  }

  /** Returns the left edge of a column. */
  public int left(int column) {
    return NAMES + column * (width + GAP);
  }

  /** Returns the upper edge of a row. */
  public int top(int row) {
    return TOP + row * (height + GAP);
  }

  /** Adds the name of a row. */
  public void name(int row, String name) {
    add("<text x=\"0\" y=\"%d\">%s</text>%n", top(row) + height / 2 + 4, name);
  }

  /** Adds a part of the drawing, formatted as by {@link String#format}. */
  public void add(String format, Object... values) {
    svg.append(String.format(Locale.ROOT, format.replace("%n", "\n"), values));
  }

  /** Ends the drawing. */
  public String end() {
    return svg.append("</svg>\n").toString();
  }
}
