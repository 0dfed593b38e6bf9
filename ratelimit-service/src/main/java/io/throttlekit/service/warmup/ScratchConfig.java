package io.throttlekit.service.warmup;

import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.TelemetryConfig;
import java.time.Duration;

/**
 * Derives the configuration of a warm-up from that of a service.
 *
 * <p>Removes everything visible outside the process: the address, certificate, coordinator and
 * collector. External authorization, where it is configured, describes the warm-up's requests. A
 * warm-up keeps no other reference to the configuration, so that it cannot use them.
 */
final class ScratchConfig {
  /** Address of the warm-up's server, independent of the JVM's preference for IPv4 or IPv6. */
  static final String HOST = "127.0.0.1";

  /** Short: no real client waits for these calls. */
  private static final Duration DRAIN = Duration.ofMillis(200);

  private ScratchConfig() {}

  /**
   * Returns a configuration that decides and answers as {@code real} does.
   *
   * @param burst number of concurrent calls that one connection must allow
   */
  static ServiceConfig of(ServiceConfig real, int burst) {
    ExtAuthzConfig authz = real.extAuthz();
    return new ServiceConfig(
        real.policies(),
        listener(real.grpc(), burst),
        real.http(),
        real.debug(),
        real.metrics(),
        real.store().inMemory(),
        null,
        real.concurrency(),
        real.sensors(),
        real.response(),
        real.compatibility(),
        silent(real.telemetry()),
        real.health(),
        real.warmUp(),
        authz == null ? null : CheckTraffic.config(authz));
  }

  private static GrpcConfig listener(GrpcConfig real, int burst) {
    GrpcConfig.Limits limits = real.limits();
    return new GrpcConfig(
        HOST,
        0,
        null,
        null,
        GrpcConfig.ConnectionAge.unlimited(),
        real.keepAlive(),
        new GrpcConfig.Limits(
            limits.messageBytes(),
            limits.descriptors(),
            limits.entryBytes(),
            limits.headerBytes(),
            Math.max(burst, limits.callsPerConnection()),
            limits.connections(),
            limits.resetsPerSecond(),
            limits.framesPerSecond()),
        real.eventLoops(),
        new GrpcConfig.Drain(Duration.ZERO, DRAIN),
        false);
  }

  /** Returns telemetry without exporters: metrics are counted but never collected. */
  private static TelemetryConfig silent(TelemetryConfig real) {
    return new TelemetryConfig(
        true,
        false,
        false,
        0,
        false,
        real.metricExport(),
        real.spanExport(),
        real.serviceName(),
        real.logLevel(),
        real.logFormat(),
        real.nearLimitRatio(),
        real.maxSeries(),
        Duration.ZERO,
        "",
        "",
        null,
        null);
  }
}
