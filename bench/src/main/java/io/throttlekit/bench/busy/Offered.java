package io.throttlekit.bench.busy;

import java.time.Duration;
import java.util.Locale;

/**
 * Result of one load.
 *
 * @param perSecond requests offered in a second
 * @param requests number of requests that were offered
 * @param inTime number answered within the clients' timeout, counted from when each was sent
 * @param refused number refused by the service because it read them too late
 * @param length duration of the load
 * @param lagMillis 99th percentile of the generator's delay of a request
 * @param mostLagMillis maximum of that delay
 * @param mostHeapBytes largest heap after a collection during the load, of clients and service
 *     together
 * @param probes number of probes of the service's health
 * @param badProbes number of these not answered with SERVING in a second
 * @param slowestProbeMillis duration of the slowest probe
 */
public record Offered(
    int perSecond,
    long requests,
    long inTime,
    long refused,
    Duration length,
    double lagMillis,
    double mostLagMillis,
    long mostHeapBytes,
    int probes,
    int badProbes,
    double slowestProbeMillis) {

  /** Delay of the generator from which a run is not a measurement of the service. */
  public static final double MAX_LAG_MILLIS = 5;

  /** Returns answers in time per second. */
  public double inTimePerSecond() {
    return inTime * 1e3 / length.toMillis();
  }

  /** Returns whether the generator sent on time. */
  public boolean isPunctual() {
    return lagMillis < MAX_LAG_MILLIS;
  }

  /** Returns a row of a Markdown table. */
  public String row() {
    return String.format(
        Locale.ROOT,
        "| %,d | %,.0f | %,.0f | %.2f | %.2f | %.0f | %d of %d | %.1f |",
        perSecond,
        inTimePerSecond(),
        refused * 1e3 / length.toMillis(),
        lagMillis,
        mostLagMillis,
        mostHeapBytes / 1e6,
        probes - badProbes,
        probes,
        slowestProbeMillis);
  }
}
