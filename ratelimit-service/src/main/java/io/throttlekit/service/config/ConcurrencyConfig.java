package io.throttlekit.service.config;

import java.time.Duration;

/**
 * How this process hears what becomes of requests, and steers what Envoys let through. What nobody
 * uses costs nothing.
 *
 * @param accessLog whether access logs are taken from Envoys
 * @param samplesPerSecond most requests that one stream of a log may teach the laws of ceilings in
 *     a second
 * @param loadReports whether Envoys may report their load
 * @param loadReportInterval how often they are told to
 * @param steer whether this process pushes the ceilings of {@code gate: envoy} to Envoys
 * @param maxEnvoys Envoys at most that it pushes them to
 */
public record ConcurrencyConfig(
    boolean accessLog,
    int samplesPerSecond,
    boolean loadReports,
    Duration loadReportInterval,
    boolean steer,
    int maxEnvoys) {

  /** What is in force when nothing is configured. */
  public static ConcurrencyConfig defaults() {
    return new ConcurrencyConfig(true, 10_000, true, Duration.ofSeconds(1), true, 1_000);
  }
}
