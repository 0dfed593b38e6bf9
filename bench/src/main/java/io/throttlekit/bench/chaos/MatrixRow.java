package io.throttlekit.bench.chaos;

import java.util.Locale;

/**
 * What came of one fault alone.
 *
 * @param what the fault, for people
 * @param kind of the coordinator
 * @param overshoot units beyond what counters may have, of all of them
 * @param utilization of the limit that regions share, over the whole windows of the row
 * @param requests that were sent
 * @param failed those that were neither admitted nor refused
 * @param recoverySeconds from the end of the fault until the last request failed and every region
 *     had admitted units of the shared limit; not a number where one admitted none
 * @param original what envoyproxy/ratelimit does
 */
record MatrixRow(
    String what,
    CoordinatorKind kind,
    long overshoot,
    double utilization,
    long requests,
    long failed,
    double recoverySeconds,
    String original) {

  static String head() {
    return "| fault | coordinator | admitted beyond the limit | utilization | failed requests |"
        + " seconds to recover | envoyproxy/ratelimit |\n|---|---|---|---|---|---|---|\n";
  }

  /** A row of a Markdown table. */
  String markdown() {
    return String.format(
        Locale.ROOT,
        "| %s | %s | %d | %.2f | %.1f %% | %s | %s |",
        what,
        kind.words(),
        overshoot,
        utilization,
        percentFailed(),
        Double.isNaN(recoverySeconds) ? "–" : String.format(Locale.ROOT, "%.2f", recoverySeconds),
        original);
  }

  /** A JSON object. */
  String json() {
    return String.format(
        Locale.ROOT,
        "{\"fault\":\"%s\",\"coordinator\":\"%s\",\"overshoot\":%d,\"utilization\":%s,"
            + "\"failed_percent\":%.2f,\"recovery_seconds\":%s}",
        what,
        kind.words(),
        overshoot,
        number(utilization),
        percentFailed(),
        number(recoverySeconds));
  }

  private double percentFailed() {
    return 100.0 * failed / Math.max(1, requests);
  }

  private static String number(double value) {
    return Double.isNaN(value) ? "null" : String.format(Locale.ROOT, "%.3f", value);
  }
}
