package io.throttlekit.demo.overload;

import io.throttlekit.demo.load.Capacity;
import io.throttlekit.demo.load.Course.Figures;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/**
 * The results of the arms under each load.
 *
 * @param capacity of each upstream
 * @param counted seconds of each phase that count, at its end
 * @param seed of arrivals and service times
 * @param rows phases that ended
 * @param latestMillis longest delay of a request in these seconds, which shows whether the machine
 *     kept up
 */
public record OverloadSummary(
    Capacity capacity, int counted, long seed, List<Row> rows, long latestMillis) {

  /** The seconds that count in a phase of a minute. */
  private static final int OF_A_MINUTE = 40;

  /** A longer delay is reported: it is no longer small compared with a service time. */
  private static final long REPORTED_MILLIS = 20;

  /** A phase, and its figures for each arm. */
  record Row(Phase phase, Map<Limiter, Figures> arms) {

    /** Returns the figures of an arm that was run. */
    Figures of(Limiter limiter) {
      return Objects.requireNonNull(arms.get(limiter), limiter::word);
    }
  }

  /** Copies the rows. */
  public OverloadSummary {
    rows = List.copyOf(rows);
  }

  /**
   * Returns one JSON object on one line: for each phase the figures of ours, null if it was not
   * run, and those of every arm.
   */
  public String json() {
    return "{\"phases\":[%s],\"per_second\":%s,\"service_ms\":%d,\"counted_seconds\":%d,\"seed\":%d,\"sent_late_ms\":%d}"
        .formatted(
            rows.stream().map(this::json).collect(Collectors.joining(",")),
            number(capacity.perSecond()),
            capacity.service().toMillis(),
            counted,
            seed,
            latestMillis);
  }

  /** Returns the table, followed by the JSON on the last line, for logs that programs read. */
  public String textAndJson() {
    return words() + System.lineSeparator() + json();
  }

  /** Returns a table for readers. */
  public String words() {
    StringBuilder table =
        new StringBuilder(
            row("phase", "arm", "goodput", "p99, ms", "limit", "refused", "late", "failed"));
    for (Row row : rows) {
      row.arms.forEach((limiter, figures) ->
          table.append(
              row(
                  row.phase.name(),
                  limiter.word(),
                  number(goodput(row.phase, figures)),
                  whole(figures.p99Millis(), "-"),
                  whole(figures.limit(), "-"),
                  Long.toString(figures.refused()),
                  Long.toString(figures.late()),
                  Long.toString(figures.failed()))));
    }
    table.append(
        ("goodput: answers within %d ms, as a share of the smaller of load and capacity; the last"
                + " %d s of each phase%n")
            .formatted(capacity.deadline().toMillis(), counted));
    if (counted < OF_A_MINUTE) {
      table.append(
          "phases of less than a minute contain the algorithm's first measurement, which costs"
              + " goodput:"
              + " they say less%n".formatted());
    }
    if (latestMillis > REPORTED_MILLIS) {
      table.append(
          "the machine was busy: a request was sent %d ms late, which its latency includes%n"
              .formatted(latestMillis));
    }
    return table.toString().stripTrailing();
  }

  /** Returns the goodput of an arm in a phase, from 0; by chance it can be slightly above 1. */
  double goodput(Phase phase, Figures figures) {
    return figures.goodput(capacity.perSecond() * phase.capacity() * counted);
  }

  private String json(Row row) {
    Figures ours = row.arms.get(Limiter.OURS);
    String arms =
        row.arms.entrySet().stream()
            .map(arm ->
                "\"%s\":{%s,\"late\":%d,\"failed\":%d}"
                    .formatted(
                        arm.getKey().word(),
                        json(row.phase, arm.getValue()),
                        arm.getValue().late(),
                        arm.getValue().failed()))
            .collect(Collectors.joining(","));
    return "{\"phase\":\"%s\",\"offered\":%s,\"capacity\":%s,%s,\"arms\":{%s}}"
        .formatted(
            row.phase.name(),
            Double.toString(row.phase.load()),
            Double.toString(row.phase.capacity()),
            ours == null
                ? "\"goodput\":null,\"p99_ms\":null,\"limit\":null,\"refused\":null"
                : json(row.phase, ours),
            arms);
  }

  private String json(Phase phase, Figures figures) {
    return "\"goodput\":%s,\"p99_ms\":%s,\"limit\":%s,\"refused\":%d"
        .formatted(
            number(goodput(phase, figures)),
            whole(figures.p99Millis(), "null"),
            whole(figures.limit(), "null"),
            figures.refused());
  }

  private static String row(
      String phase,
      String arm,
      String goodput,
      String p99,
      String limit,
      String refused,
      String late,
      String failed) {
    return String.format(
        Locale.ROOT,
        "%-9s %-6s %8s %8s %8s %8s %8s %8s%n",
        phase,
        arm,
        goodput,
        p99,
        limit,
        refused,
        late,
        failed);
  }

  private static String whole(OptionalInt value, String none) {
    return value.isPresent() ? Integer.toString(value.getAsInt()) : none;
  }

  private static String number(double value) {
    return String.format(Locale.ROOT, "%.3f", value);
  }
}
