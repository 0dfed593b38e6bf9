package io.throttlekit.service.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Assembles the typed configuration from single values, and checks values that depend on each
 * other.
 */
final class ConfigAssembly {

  private ConfigAssembly() {}

  static ServiceConfig assemble(SettingValues values) {
    return new ServiceConfig(
        policies(values),
        grpc(values),
        http(values),
        new DebugConfig(values.get(Settings.DEBUG_HOST), values.get(Settings.DEBUG_PORT)),
        metrics(values),
        StoreAssembly.assemble(values),
        FederationSettings.assemble(values),
        ConcurrencySettings.assemble(values),
        SensorsSettings.assemble(values),
        response(values),
        new CompatibilityConfig(
            values.get(Settings.CHARGE_REJECTED),
            values.get(Settings.SHADOW_MODE),
            values.get(Settings.QUOTA_MODE)),
        telemetry(values),
        new HealthConfig(
            values.get(Settings.STORE_MUST_BE_REACHABLE), values.get(Settings.NEEDS_POLICIES)),
        new WarmUpConfig(values.get(Settings.WARM_UP_REQUESTS)),
        ExtAuthzSettings.assemble(values));
  }

  private static PolicyConfig policies(SettingValues values) {
    Path root = path(values.get(Settings.RUNTIME_ROOT));
    if (root == null
        && values.get(Settings.POLICY_PATHS).isEmpty()
        && !values.malformed(Settings.POLICY_PATHS)) {
      values.error(
          new Origin.Option("--policies"),
          "no policies: give --policies PATH, policies.paths in the configuration file, or the"
              + " variable RUNTIME_ROOT");
    }
    return new PolicyConfig(
        values.get(Settings.POLICY_PATHS),
        root == null
            ? null
            : new RuntimeFolder(
                root,
                values.get(Settings.RUNTIME_SUBDIRECTORY),
                values.get(Settings.RUNTIME_APP_DIRECTORY),
                values.get(Settings.RUNTIME_WATCH_ROOT),
                values.get(Settings.RUNTIME_IGNORE_DOT_FILES)),
        values.get(Settings.MERGE_DOMAINS),
        values.get(Settings.POLL_INTERVAL),
        values.get(Settings.REQUIRE_AT_START));
  }

  private static GrpcConfig grpc(SettingValues values) {
    return new GrpcConfig(
        values.get(Settings.GRPC_HOST),
        values.get(Settings.GRPC_PORT),
        path(values.get(Settings.UNIX_SOCKET)),
        tls(values),
        new GrpcConfig.ConnectionAge(
            values.get(Settings.MAX_CONNECTION_AGE),
            values.get(Settings.MAX_CONNECTION_AGE_GRACE),
            values.get(Settings.MAX_CONNECTION_IDLE)),
        new GrpcConfig.KeepAlive(
            values.get(Settings.KEEP_ALIVE_TIME),
            values.get(Settings.KEEP_ALIVE_TIMEOUT),
            values.get(Settings.PERMIT_KEEP_ALIVE_TIME)),
        new GrpcConfig.Limits(
            values.get(Settings.MAX_MESSAGE_BYTES),
            values.get(Settings.MAX_DESCRIPTORS),
            values.get(Settings.MAX_ENTRY_BYTES),
            values.get(Settings.MAX_CONCURRENT_CALLS),
            values.get(Settings.MAX_CONNECTIONS),
            values.get(Settings.MAX_RESETS)),
        values.get(Settings.EVENT_LOOPS),
        new GrpcConfig.Drain(values.get(Settings.DRAIN_DELAY), values.get(Settings.DRAIN_TIMEOUT)),
        values.get(Settings.REFLECTION));
  }

  /**
   * Returns the HTTP listener. It does not check client certificates, so {@code /json} is off where
   * gRPC requires them.
   */
  private static HttpConfig http(SettingValues values) {
    boolean json = values.get(Settings.HTTP_JSON);
    if (json && !values.get(Settings.TLS_CLIENT_CA).isEmpty()) {
      values.warn(
          "%s (%s) has no effect: /json asks for no client certificates, and gRPC does (%s)"
              .formatted(
                  Settings.HTTP_JSON, values.origin(Settings.HTTP_JSON), Settings.TLS_CLIENT_CA));
      json = false;
    }
    return new HttpConfig(
        values.get(Settings.HTTP_HOST),
        values.get(Settings.HTTP_PORT),
        json,
        values.get(Settings.HTTP_JSON_REFUNDS),
        values.get(Settings.HTTP_MAX_CONNECTIONS));
  }

  private static @Nullable MetricsConfig metrics(SettingValues values) {
    String address = values.get(Settings.METRICS_ADDRESS);
    return address.isEmpty() || !values.get(Settings.PROMETHEUS)
        ? null
        : MetricsConfig.at(address, values.get(Settings.METRICS_PATH));
  }

  private static @Nullable TlsConfig tls(SettingValues values) {
    Path certificate = path(values.get(Settings.TLS_CERTIFICATE));
    Path key = path(values.get(Settings.TLS_KEY));
    Path clientCa = path(values.get(Settings.TLS_CLIENT_CA));
    String clientSan = values.get(Settings.TLS_CLIENT_SAN);
    values.needs(Settings.TLS_CERTIFICATE, Settings.TLS_KEY);
    values.needs(Settings.TLS_KEY, Settings.TLS_CERTIFICATE);
    values.needs(Settings.TLS_CLIENT_CA, Settings.TLS_CERTIFICATE);
    values.needs(Settings.TLS_CLIENT_SAN, Settings.TLS_CLIENT_CA);
    return certificate == null || key == null
        ? null
        : new TlsConfig(certificate, key, clientCa, clientSan.isEmpty() ? null : clientSan);
  }

  private static ResponseConfig response(SettingValues values) {
    return new ResponseConfig(
        new RateLimitHeaders(
            values.get(Settings.HEADERS_ENABLED),
            values.get(Settings.HEADERS_LIMIT),
            values.get(Settings.HEADERS_REMAINING),
            values.get(Settings.HEADERS_RESET)),
        values.get(Settings.RETRY_AFTER),
        values.get(Settings.STRUCTURED_HEADERS),
        new DeniedBody(values.get(Settings.DENIED_CONTENT_TYPE), values.get(Settings.DENIED_TEXT)),
        values.get(Settings.DYNAMIC_METADATA));
  }

  private static TelemetryConfig telemetry(SettingValues values) {
    return new TelemetryConfig(
        values.get(Settings.PROMETHEUS),
        values.get(Settings.OTLP_METRICS),
        values.get(Settings.TRACING),
        values.get(Settings.SAMPLING_RATIO),
        values.get(Settings.OTLP_PROTOCOL),
        values.get(Settings.OTLP_ENDPOINT),
        values.get(Settings.SERVICE_NAME),
        values.get(Settings.LOG_LEVEL),
        values.get(Settings.LOG_FORMAT),
        values.get(Settings.NEAR_LIMIT_RATIO),
        values.get(Settings.MAX_SERIES));
  }

  private static @Nullable Path path(String text) {
    return text.isEmpty() ? null : Path.of(text);
  }
}
