package io.throttlekit.demo.fleet;

import io.throttlekit.demo.load.Course.Figures;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The results of a run with several replicas.
 *
 * @param perSecond capacity of the upstream
 * @param rows loads that ended
 */
public record FleetSummary(FleetPlan plan, double perSecond, List<Row> rows) {

  /**
   * The results under a load.
   *
   * @param killed replica that computed the limit, and was killed
   * @param next replica that computed it after that; empty if none did
   * @param nextMillis time between the two
   * @param before figures of the seconds before the kill
   * @param during figures of the seconds without the replica
   * @param after figures of the seconds with a new one in its place
   * @param worst lowest goodput of any ten seconds of these
   */
  record Row(
      int load,
      String killed,
      String next,
      long nextMillis,
      Span before,
      Span during,
      Span after,
      double worst) {}

  /** Outcomes of a number of seconds. */
  record Span(int seconds, Figures figures) {
    double goodput(double perSecond) {
      return figures.goodput(perSecond * seconds);
    }
  }

  /** Copies the rows. */
  public FleetSummary {
    rows = List.copyOf(rows);
  }

  /** Returns a table for readers. */
  public String words() {
    StringBuilder table =
        new StringBuilder(
            row("load", "killed", "next", "after", "before", "during", "after", "worst 10 s"));
    for (Row row : rows) {
      table.append(
          row(
              Integer.toString(row.load()),
              row.killed(),
              row.next().isEmpty() ? "-" : row.next(),
              row.nextMillis() + " ms",
              number(row.before().goodput(perSecond)),
              number(row.during().goodput(perSecond)),
              number(row.after().goodput(perSecond)),
              number(row.worst())));
    }
    table.append(
        ("before, during, after: goodput before the kill, without the replica, and with a new one"
                + " in its place:%nanswers in time, as a share of the smaller of load and capacity")
            .formatted());
    return table.toString();
  }

  /** Returns one JSON object on one line. */
  public String json() {
    return "{\"replicas\":%d,\"gate\":\"%s\",\"store\":\"%s\",\"seed\":%d,\"per_second\":%s,\"loads\":[%s]}"
        .formatted(
            plan.replicas(),
            plan.gate().word(),
            plan.store().word(),
            plan.seed(),
            number(perSecond),
            rows.stream().map(this::json).collect(Collectors.joining(",")));
  }

  private String json(Row row) {
    return "{\"load\":%d,\"killed\":\"%s\",\"next\":\"%s\",\"next_ms\":%d,\"before\":%s,\"during\":%s,\"after\":%s,\"worst_10s\":%s}"
        .formatted(
            row.load(),
            row.killed(),
            row.next(),
            row.nextMillis(),
            number(row.before().goodput(perSecond)),
            number(row.during().goodput(perSecond)),
            number(row.after().goodput(perSecond)),
            number(row.worst()));
  }

  /** Returns the table, followed by the JSON on the last line, for logs that programs read. */
  public String textAndJson() {
    return words() + System.lineSeparator() + json();
  }

  private static String row(
      String load,
      String killed,
      String next,
      String nextAfter,
      String before,
      String during,
      String after,
      String worst) {
    return String.format(
        Locale.ROOT,
        "%-5s %-7s %-5s %9s %8s %8s %8s %11s%n",
        load,
        killed,
        next,
        nextAfter,
        before,
        during,
        after,
        worst);
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.3f", value);
  }
}
