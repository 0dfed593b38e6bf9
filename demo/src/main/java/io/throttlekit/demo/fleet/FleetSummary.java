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
   * @param faulty replica that computed the limit until the fault
   * @param next replica that computed it after that; empty if none did
   * @param nextMillis time between the two
   * @param before figures of the seconds before the fault
   * @param during figures of its seconds
   * @param after figures of the seconds after it
   * @param worst lowest goodput of any ten seconds of these
   */
  record Row(
      int load,
      String faulty,
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
            row(
                "load",
                plan.fault().past(),
                "next",
                "after",
                "before",
                "during",
                "after",
                "worst 10 s"));
    for (Row row : rows) {
      table.append(
          row(
              Integer.toString(row.load()),
              row.faulty(),
              row.next().isEmpty() ? "-" : row.next(),
              row.nextMillis() + " ms",
              number(row.before().goodput(perSecond)),
              number(row.during().goodput(perSecond)),
              number(row.after().goodput(perSecond)),
              number(row.worst())));
    }
    table.append(
        ("before, during, after: goodput before, during and after the fault of the replica:%n"
                + "answers in time, as a share of the smaller of load and capacity")
            .formatted());
    return table.toString();
  }

  /** Returns one JSON object on one line. */
  public String json() {
    return "{\"replicas\":%d,\"gate\":\"%s\",\"store\":\"%s\",\"fault\":\"%s\",\"seed\":%d,\"per_second\":%s,\"loads\":[%s]}"
        .formatted(
            plan.replicas(),
            plan.gate().word(),
            plan.store().word(),
            plan.fault().word(),
            plan.seed(),
            number(perSecond),
            rows.stream().map(this::json).collect(Collectors.joining(",")));
  }

  private String json(Row row) {
    return "{\"load\":%d,\"faulty\":\"%s\",\"next\":\"%s\",\"next_ms\":%d,\"before\":%s,\"during\":%s,\"after\":%s,\"worst_10s\":%s}"
        .formatted(
            row.load(),
            row.faulty(),
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
      String faulty,
      String next,
      String nextAfter,
      String before,
      String during,
      String after,
      String worst) {
    return String.format(
        Locale.ROOT,
        "%-5s %-9s %-5s %9s %8s %8s %8s %11s%n",
        load,
        faulty,
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
