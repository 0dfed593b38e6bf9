package io.throttlekit.bench.chaos;

import io.throttlekit.bench.chaos.fleet.CoordinatorKind;
import io.throttlekit.bench.chaos.traffic.RequestFigures;
import java.util.Locale;

/**
 * Result of one fault by itself.
 *
 * @param what the fault, as readable text
 * @param kind of the coordinator
 * @param overshoot units beyond the limits of all counters
 * @param utilization of the limit that regions share, over the whole windows of the row
 * @param regional the same of the region's own limits, or of all regions where it affects none or
 *     all
 * @param requests outcomes of requests
 * @param recoverySeconds time from the end of the fault, or its beginning where it ends by itself,
 *     until the last request failed and every region had admitted units of the shared limit; not a
 *     number where one admitted none
 * @param lost units that processes counted as lost
 * @param original behaviour of envoyproxy/ratelimit
 */
record MatrixRow(
    String what,
    CoordinatorKind kind,
    long overshoot,
    double utilization,
    double regional,
    RequestFigures requests,
    double recoverySeconds,
    long lost,
    String original) {

  static String head() {
    return "| fault | coordinator | admitted beyond the limit | utilization | of own limits |"
        + " failed requests | not sent | seconds to recover | lost units | envoyproxy/ratelimit |\n"
        + "|---|---|---|---|---|---|---|---|---|---|\n";
  }

  /** Returns a row of a Markdown table. */
  String markdown() {
    return String.format(
        Locale.ROOT,
        "| %s | %s | %d | %.2f | %.2f | %.1f %% | %d | %s | %d | %s |",
        what,
        kind.words(),
        overshoot,
        utilization,
        regional,
        requests.percentFailed(),
        requests.behind(),
        Double.isNaN(recoverySeconds) ? "–" : String.format(Locale.ROOT, "%.2f", recoverySeconds),
        lost,
        original);
  }

  /** Returns a JSON object. */
  String json() {
    return String.format(
        Locale.ROOT,
        "{\"fault\":\"%s\",\"coordinator\":\"%s\",\"overshoot\":%d,\"utilization\":%s,"
            + "\"own_utilization\":%s,\"failed_percent\":%.2f,\"not_sent\":%d,"
            + "\"recovery_seconds\":%s,\"lost\":%d}",
        what,
        kind.words(),
        overshoot,
        number(utilization),
        number(regional),
        requests.percentFailed(),
        requests.behind(),
        number(recoverySeconds),
        lost);
  }

  private static String number(double value) {
    return Double.isNaN(value) ? "null" : String.format(Locale.ROOT, "%.3f", value);
  }
}
