package io.throttlekit.service.warmup;

import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.TelemetryConfig;
import java.time.Duration;

/**
 * A service's configuration without external effects: without its address, certificate, coordinator
 * and collector. External authorization, if configured, describes the requests of the warm-up. A
 * warm-up holds nothing else of the real configuration, so that it cannot use it.
 */
final class ScratchConfig {
  /** Address of the scratch server, whatever address family the JVM prefers. */
  static final String HOST = "127.0.0.1";

  /**
   * Returns a configuration that decides and answers as {@code real} does.
   *
   * @param burst number of calls in progress that one connection must allow
   */
  private static final Duration DRAIN = Duration.ofMillis(200);

  private ScratchConfig() {}

  /** Returns telemetry without exporters; what is counted is never read. */
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

  /** Returns telemetry without exporters: metrics are counted but never collected. */
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
