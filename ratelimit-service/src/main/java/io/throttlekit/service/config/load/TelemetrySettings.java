package io.throttlekit.service.config.load;

import io.throttlekit.service.config.ServiceConfig.HealthConfig;
import io.throttlekit.service.config.ServiceConfig.WarmUpConfig;
import io.throttlekit.service.config.TelemetryConfig;
import java.util.List;
import java.util.Map;

/** Settings of the sections {@code telemetry}, {@code health} and {@code warm_up}. */
final class TelemetrySettings extends Section {
  private static final TelemetryConfig DEFAULTS = TelemetryConfig.defaults();
  private static final HealthConfig HEALTH = HealthConfig.defaults();

  final Setting<Boolean> prometheus = flag("telemetry.prometheus", DEFAULTS.prometheus());
  private final Setting<Boolean> otlpMetrics =
      flag("telemetry.otlp_metrics", DEFAULTS.otlpMetrics());
  final Setting<Boolean> tracing = flag("telemetry.tracing", DEFAULTS.tracing());
  final Setting<Double> samplingRatio =
      setting("telemetry.sampling_ratio", Forms.ratio(), DEFAULTS.samplingRatio());
  final Setting<String> otlpProtocol =
      setting(
          "telemetry.otlp_protocol",
          Forms.word(List.of("http", "grpc"), Map.of("http/protobuf", "http")),
          DEFAULTS.otlpProtocol());
  final Setting<String> otlpEndpoint =
      setting("telemetry.otlp_endpoint", Forms.endpoint(), DEFAULTS.otlpEndpoint());
  final Setting<String> serviceName =
      setting("telemetry.service_name", Forms.headerValue(), DEFAULTS.serviceName());
  final Setting<String> logLevel =
      setting(
          "telemetry.log_level",
          Forms.word(
              List.of("trace", "debug", "info", "warn", "error"),
              Map.of("warning", "warn", "fatal", "error", "panic", "error")),
          DEFAULTS.logLevel());
  final Setting<String> logFormat =
      setting(
          "telemetry.log_format",
          Forms.word(List.of("text", "json"), Map.of()),
          DEFAULTS.logFormat());
  final Setting<Double> nearLimitRatio =
      setting("telemetry.near_limit_ratio", Forms.ratio(), DEFAULTS.nearLimitRatio());
  private final Setting<Integer> maxSeries =
      count("telemetry.max_series", 1, 10_000_000, DEFAULTS.maxSeries());

  final Setting<Boolean> storeMustBeReachable =
      flag("health.store_must_be_reachable", HEALTH.storeMustBeReachable());
  final Setting<Boolean> needsPolicies = flag("health.needs_policies", HEALTH.needsPolicies());

  private final Setting<Integer> warmUpRequests =
      count("warm_up.requests", 0, 10_000_000, WarmUpConfig.defaults().requests());

  TelemetryConfig telemetry(SettingValues values) {
    return new TelemetryConfig(
        values.get(prometheus),
        values.get(otlpMetrics),
        values.get(tracing),
        values.get(samplingRatio),
        values.get(otlpProtocol),
        values.get(otlpEndpoint),
        values.get(serviceName),
        values.get(logLevel),
        values.get(logFormat),
        values.get(nearLimitRatio),
        values.get(maxSeries));
  }

  HealthConfig health(SettingValues values) {
    return new HealthConfig(values.get(storeMustBeReachable), values.get(needsPolicies));
  }

  WarmUpConfig warmUp(SettingValues values) {
    return new WarmUpConfig(values.get(warmUpRequests));
  }

  /** Warns of a health that depends on a store which is always reachable. */
  void warnOfStoreHealth(SettingValues values) {
    // envoyproxy/ratelimit's variable has a warning of its own.
    Origin peer = Origin.variable("REDIS_HEALTH_CHECK_ACTIVE_CONNECTION");
    if (Settings.STORE.inMemory(values)
        && values.get(storeMustBeReachable)
        && !values.origin(storeMustBeReachable).equals(peer)) {
      values.warnOfNoEffect(
          storeMustBeReachable, "counters are in memory, which is always reachable");
    }
  }
}
