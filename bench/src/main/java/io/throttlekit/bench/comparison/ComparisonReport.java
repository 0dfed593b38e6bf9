package io.throttlekit.bench.comparison;

import io.throttlekit.bench.command.Target;
import io.throttlekit.bench.server.ServerFigures;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Figures of the service beside those of the no-op server, measured in one run.
 *
 * @param halfLoadPerSecond rate that was offered to both for latency
 * @param warmUpAnswers smaller number of the replies of both before the measurements
 */
public record ComparisonReport(
    ServerFigures noOp,
    ServerFigures service,
    int rounds,
    int halfLoadPerSecond,
    long warmUpAnswers) {
  /**
   * Replies after which a JVM counts as warm. It is at 0.8 of its peak after some 270,000 requests,
   * whatever time they take.
   */
  private static final long WARM = 300_000;

  /** Header of a table of {@link #row}s. */
  static final String HEADER =
      "| server | decisions/s | µs CPU | µs CPU at half load | p50 ms at half load | p99 ms at"
          + " half load | bytes allocated | MB resident |\n"
          + "|---|---|---|---|---|---|---|---|\n";

  /** Returns whether the figures are the servers', not their compilers'. */
  boolean warm() {
    return warmUpAnswers >= WARM;
  }

  /** Returns the target ratios of service to no-op server. */
  public List<Target> targets() {
    return List.of(
        Target.atMost(
            "CPU per decision, ratio", 1.15, service.peakCpuMicros() / noOp.peakCpuMicros()),
        Target.atLeast("throughput, ratio", 0.85, service.peakPerSecond() / noOp.peakPerSecond()),
        Target.atMost(
            "p99 at half load, ratio", 1.3, service.halfLoadP99Millis() / noOp.halfLoadP99Millis()),
        Target.atMost(
            "bytes allocated per decision, ratio",
            1.1,
            service.allocatedBytes() / noOp.allocatedBytes()));
  }

  /** Returns two Markdown tables. */
  public String table() {
    return "Medians of %d rounds; half load is %,d requests/s.%n%n"
            .formatted(rounds, halfLoadPerSecond)
        + (warm()
            ? ""
            : "NOT WARM: after %,d requests these figures are the compiler's, not the service's.%n%n"
                .formatted(warmUpAnswers))
        + HEADER
        + row(noOp)
        + row(service)
        + "\n"
        + Target.table(targets());
  }

  /** Returns one JSON object in one line. */
  public String json() {
    return "{\"warm\":%s,\"rounds\":%d,\"half_load_per_second\":%d,\"servers\":[%s],\"targets\":%s}"
        .formatted(
            warm(),
            rounds,
            halfLoadPerSecond,
            Stream.of(noOp, service).map(ComparisonReport::json).collect(Collectors.joining(",")),
            Target.jsonArray(targets()));
  }

  /** Returns a row of a Markdown table. */
  static String row(ServerFigures f) {
    return String.format(
        Locale.ROOT,
        "| %s | %,.0f | %.2f | %.2f | %.3f | %.3f | %,.0f | %.0f |%n",
        f.name(),
        f.peakPerSecond(),
        f.peakCpuMicros(),
        f.halfLoadCpuMicros(),
        f.halfLoadP50Millis(),
        f.halfLoadP99Millis(),
        f.allocatedBytes(),
        f.residentBytes() / 1e6);
  }

  /** Returns a JSON object. */
  public static String json(ServerFigures f) {
    return String.format(
        Locale.ROOT,
        "{\"name\":\"%s\",\"per_second\":%.0f,\"cpu_micros\":%.3f,\"half_load_cpu_micros\":%.3f,"
            + "\"half_load_p50_millis\":%.3f,\"half_load_p99_millis\":%.3f,"
            + "\"allocated_bytes\":%.0f,\"resident_bytes\":%d,\"failed\":%d}",
        f.name(),
        f.peakPerSecond(),
        f.peakCpuMicros(),
        f.halfLoadCpuMicros(),
        f.halfLoadP50Millis(),
        f.halfLoadP99Millis(),
        f.allocatedBytes(),
        f.residentBytes(),
        f.failed());
  }
}
