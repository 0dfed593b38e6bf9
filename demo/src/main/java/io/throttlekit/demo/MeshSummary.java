package io.throttlekit.demo;

import io.throttlekit.demo.MeshCounts.Window;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * The requests that the mesh admitted and refused.
 *
 * @param limit units that all regions together may admit in a window
 * @param windows complete windows of the coordinator's clock
 * @param cuts partitions of {@link MeshScenario#CUT}
 * @param undecided admitted requests at the border of two windows, whose window is unknown
 * @param failed requests neither admitted nor refused
 */
public record MeshSummary(
    long limit, List<Window> windows, List<Cuts.Cut> cuts, long undecided, long failed) {

  /** Returns the largest number of units that a window admitted beyond the limit. */
  long overshoot() {
    return windows.stream()
        .mapToLong(window -> Math.max(0, window.total() - limit))
        .max()
        .orElse(0);
  }

  /** Returns one JSON object on one line. */
  public String json() {
    String counted =
        windows.stream()
            .map(window ->
                "{\"admitted\":%s,\"refused\":%s}"
                    .formatted(byRegion(window.admitted()), byRegion(window.refused())))
            .collect(Collectors.joining(","));
    String outages = cuts.stream().map(MeshSummary::json).collect(Collectors.joining(","));
    return "{\"limit\":%d,\"windows\":[%s],\"overshoot\":%d,\"undecided\":%d,\"failed\":%d,\"cuts\":[%s]}"
        .formatted(limit, counted, overshoot(), undecided, failed, outages);
  }

  /** Returns a table for readers. */
  public String words() {
    StringBuilder table =
        new StringBuilder(
            row("admitted in window", MeshScenario.REGIONS, "all", "of", "beyond it"));
    for (int i = 0; i < windows.size(); i++) {
      table.append(row(i + 1, windows.get(i)));
    }
    table.append(
        "overshoot %d: the most that all regions admitted beyond %d in one window%n"
            .formatted(overshoot(), limit));
    if (undecided > 0) {
      table.append(
          "not in the table: %d admitted between two windows, their window is unknown%n"
              .formatted(undecided));
    }
    if (failed > 0) {
      table.append("%d requests failed%n".formatted(failed));
    }
    return table.toString().stripTrailing();
  }

  private String row(int number, Window window) {
    List<String> admitted = window.admitted().stream().map(String::valueOf).toList();
    long beyond = Math.max(0, window.total() - limit);
    return row(
        Integer.toString(number),
        admitted,
        Long.toString(window.total()),
        Long.toString(limit),
        Long.toString(beyond));
  }

  private static String row(
      String name, List<String> regions, String all, String limit, String beyond) {
    String cells =
        regions.stream().map(cell -> "%6s".formatted(cell)).collect(Collectors.joining());
    return String.format(Locale.ROOT, "%-18s%s%8s%6s%11s%n", name, cells, all, limit, beyond);
  }

  private static String json(Cuts.Cut cut) {
    return "{\"region\":\"%s\",\"spent\":%d,\"refused\":%d,\"millis_to_refusal\":%d,\"millis_to_return\":%d}"
        .formatted(
            MeshScenario.CUT,
            cut.spent(),
            cut.refused(),
            cut.millisToRefusal(),
            cut.millisToReturn());
  }

  private static String byRegion(List<Long> counts) {
    return IntStream.range(0, counts.size())
        .mapToObj(
            region -> "\"%s\":%d".formatted(MeshScenario.REGIONS.get(region), counts.get(region)))
        .collect(Collectors.joining(",", "{", "}"));
  }
}
