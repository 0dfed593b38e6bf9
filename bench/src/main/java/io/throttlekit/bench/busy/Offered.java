package io.throttlekit.bench.busy;

import java.time.Duration;
import java.util.Locale;

/**
 * What became of one load.
 *
 * @param perSecond requests offered in a second
 * @param requests that were offered
 * @param inTime answered within the clients' timeout, counted from when each was due
 * @param refused by the service because it read them too late
 * @param length how long it was offered
 * @param lagMillis how late the generator sent a request at most, but one in a hundred
 * @param mostLagMillis how late it sent any
 * @param mostHeapBytes largest heap that had outlived a collection while the load was offered, of
 *     clients and service together
 * @param probes of the service's health
 * @param badProbes of these, not answered with SERVING in a second
 * @param slowestProbeMillis how long the slowest took
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

  /** Most that the generator may lag for a run to say something of the service. */
  public static final double MOST_LAG_MILLIS = 5;

  /** Answers in time in a second. */
  public double inTimePerSecond() {
    return inTime * 1e3 / length.toMillis();
  }

  /** Whether the generator kept its own time. */
  public boolean isPunctual() {
    return lagMillis < MOST_LAG_MILLIS;
  }

  /** A row of a Markdown table. */
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
