package io.throttlekit.bench.comparison;

import io.throttlekit.bench.command.Target;
import io.throttlekit.bench.server.ServerFigures;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Figures of shared counters beside counters in memory and the no-op server, measured in one run.
 *
 * @param trips round trips of the leased server
 * @param halfLoadPerSecond rate that was offered to all for latency
 */
public record StoreReport(
    ServerFigures noOp,
    ServerFigures memory,
    ServerFigures leased,
    ServerFigures strict,
    RoundTrips trips,
    int rounds,
    int halfLoadPerSecond) {

  /** Returns the target ratios. */
  public List<Target> targets() {
    return List.of(
        Target.atMost(
            "strict, CPU with Redis / no-op", 4, strict.peakCpuMicros() / noOp.peakCpuMicros()),
        Target.atMost(
            "leased, CPU with Redis / memory",
            1.2,
            leased.peakCpuMicros() / memory.peakCpuMicros()),
        Target.atMost(
            "leased, CPU with Redis / no-op", 1.4, leased.peakCpuMicros() / noOp.peakCpuMicros()),
        Target.atLeast(
            "leased, throughput / memory", 0.9, leased.peakPerSecond() / memory.peakPerSecond()),
        Target.atMost(
            "leased, p99 at half load / no-op",
            2,
            leased.halfLoadP99Millis() / noOp.halfLoadP99Millis()),
        Target.atMost("strict, decisions that failed", 0, (double) strict.failed()),
        Target.atMost("leased, round trips / batches begun, per key", 1, trips.share()));
  }

  /** Returns two Markdown tables. */
  String table() {
    return "Medians of %d rounds; half load is %,d requests/s; CPU is with Redis.%n%n"
            .formatted(rounds, halfLoadPerSecond)
        + ComparisonReport.HEADER
        + servers().map(ComparisonReport::row).collect(Collectors.joining())
        + "\n"
        + Target.table(targets());
  }

  /** Returns one JSON object in one line. */
  public String json() {
    return "{\"rounds\":%d,\"half_load_per_second\":%d,\"servers\":[%s],\"targets\":%s}"
        .formatted(
            rounds,
            halfLoadPerSecond,
            servers().map(ComparisonReport::json).collect(Collectors.joining(",")),
            Target.jsonArray(targets()));
  }

  private Stream<ServerFigures> servers() {
    return Stream.of(noOp, memory, leased, strict);
  }
}
