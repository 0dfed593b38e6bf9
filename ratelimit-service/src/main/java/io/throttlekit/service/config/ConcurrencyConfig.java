package io.throttlekit.service.config;

import java.time.Duration;

/**
 * Configuration of concurrency limits: how this process observes requests, and sets limits of
 * Envoys. Features that are not used cost nothing.
 *
 * @param accessLog whether access logs of Envoys are accepted
 * @param samplesPerSecond maximum number of requests in a second that one stream of a log passes to
 *     the limit algorithms
 * @param loadReports whether Envoys may report their load
 * @param loadReportInterval interval at which Envoys report
 * @param steer whether this process pushes the limits of {@code gate: envoy} to Envoys
 * @param maxEnvoys maximum number of Envoys that it pushes them to
 */
public record ConcurrencyConfig(
    boolean accessLog,
    int samplesPerSecond,
    boolean loadReports,
    Duration loadReportInterval,
    boolean steer,
    int maxEnvoys) {

  /** Returns the defaults. */
  public static ConcurrencyConfig defaults() {
    return new ConcurrencyConfig(true, 10_000, true, Duration.ofSeconds(1), true, 1_000);
  }
}
