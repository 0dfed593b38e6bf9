package io.throttlekit.service.warmup;

import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.TelemetryConfig;
import java.time.Duration;

/**
 * A service's configuration without what others would notice: its address, its certificate, its
 * coordinator and its collector; external authorization, where there is some, describes the
 * requests of the warm-up. A warm-up keeps nothing else of it, so that it cannot use them.
 */
final class ScratchConfig {
  /** Where the scratch server is, whatever address the JVM prefers for this host. */
  static final String HOST = "127.0.0.1";

  private static final Duration DRAIN = Duration.ofMillis(200);

  private ScratchConfig() {}

  /**
   * Decides and answers as {@code real} does.
   *
   * @param burst most calls in progress on one connection that must be possible
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
            Math.max(burst, limits.callsPerConnection()),
            limits.connections(),
            limits.resetsPerSecond()),
        real.eventLoops(),
        new GrpcConfig.Drain(Duration.ZERO, DRAIN),
        false);
  }

  /** What is counted can be read by nobody, and goes nowhere. */
  private static TelemetryConfig silent(TelemetryConfig real) {
    TelemetryConfig none = TelemetryConfig.defaults();
    return new TelemetryConfig(
        none.prometheus(),
        false,
        false,
        none.samplingRatio(),
        none.otlpProtocol(),
        none.otlpEndpoint(),
        none.serviceName(),
        real.logLevel(),
        real.logFormat(),
        real.nearLimitRatio(),
        real.maxSeries());
  }
}
