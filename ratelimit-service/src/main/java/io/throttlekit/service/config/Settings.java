package io.throttlekit.service.config;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Settings of the configuration, in the order in which they are printed. */
final class Settings {

  private static final ServiceConfig DEFAULTS = ServiceConfig.defaults();
  private static final GrpcConfig GRPC = DEFAULTS.grpc();
  private static final ResponseConfig RESPONSE = DEFAULTS.response();
  private static final TelemetryConfig TELEMETRY = DEFAULTS.telemetry();
  private static final Duration DAY = Duration.ofDays(1);
  private static final Duration YEAR = Duration.ofDays(365);

  static final Setting<List<Path>> POLICY_PATHS =
      new Setting<>("policies.paths", Forms.paths(), DEFAULTS.policies().paths());
  static final Setting<String> RUNTIME_ROOT =
      new Setting<>("policies.runtime.root", Forms.optionalPath(), "");
  static final Setting<String> RUNTIME_SUBDIRECTORY =
      new Setting<>("policies.runtime.subdirectory", Forms.optionalPath(), "");
  static final Setting<String> RUNTIME_APP_DIRECTORY =
      new Setting<>("policies.runtime.app_directory", Forms.optionalPath(), "config");
  static final Setting<Boolean> RUNTIME_WATCH_ROOT =
      new Setting<>("policies.runtime.watch_root", Forms.flag(), true);
  static final Setting<Boolean> RUNTIME_IGNORE_DOT_FILES =
      new Setting<>("policies.runtime.ignore_dot_files", Forms.flag(), true);
  static final Setting<Boolean> MERGE_DOMAINS =
      new Setting<>("policies.merge_domains", Forms.flag(), DEFAULTS.policies().mergeDomains());
  static final Setting<Duration> POLL_INTERVAL =
      new Setting<>(
          "policies.poll_interval",
          Forms.duration(Duration.ofMillis(10), DAY),
          DEFAULTS.policies().pollInterval());
  static final Setting<Boolean> REQUIRE_AT_START =
      new Setting<>(
          "policies.require_at_start", Forms.flag(), DEFAULTS.policies().requireAtStart());

  static final Setting<String> GRPC_HOST = new Setting<>("grpc.host", Forms.host(), GRPC.host());
  static final Setting<Integer> GRPC_PORT = new Setting<>("grpc.port", Forms.port(), GRPC.port());
  static final Setting<String> UNIX_SOCKET =
      new Setting<>("grpc.unix_socket", Forms.optionalPath(), "");
  static final Setting<String> TLS_CERTIFICATE =
      new Setting<>("grpc.tls.certificate", Forms.optionalPath(), "");
  static final Setting<String> TLS_KEY = new Setting<>("grpc.tls.key", Forms.optionalPath(), "");
  static final Setting<String> TLS_CLIENT_CA =
      new Setting<>("grpc.tls.client_ca", Forms.optionalPath(), "");
  static final Setting<String> TLS_CLIENT_SAN =
      new Setting<>("grpc.tls.client_san", Forms.headerValue(), "");
  static final Setting<Duration> MAX_CONNECTION_AGE =
      new Setting<>(
          "grpc.max_connection_age",
          Forms.duration(Duration.ZERO, YEAR),
          GRPC.connectionAge().most());
  static final Setting<Duration> MAX_CONNECTION_AGE_GRACE =
      new Setting<>(
          "grpc.max_connection_age_grace",
          Forms.duration(Duration.ZERO, YEAR),
          GRPC.connectionAge().grace());
  static final Setting<Duration> MAX_CONNECTION_IDLE =
      new Setting<>(
          "grpc.max_connection_idle",
          Forms.duration(Duration.ZERO, YEAR),
          GRPC.connectionAge().idle());
  static final Setting<Duration> KEEP_ALIVE_TIME =
      new Setting<>(
          "grpc.keep_alive_time",
          Forms.duration(Duration.ofSeconds(1), DAY),
          GRPC.keepAlive().time());
  static final Setting<Duration> KEEP_ALIVE_TIMEOUT =
      new Setting<>(
          "grpc.keep_alive_timeout",
          Forms.duration(Duration.ofMillis(100), DAY),
          GRPC.keepAlive().timeout());
  static final Setting<Duration> PERMIT_KEEP_ALIVE_TIME =
      new Setting<>(
          "grpc.permit_keep_alive_time",
          Forms.duration(Duration.ZERO, DAY),
          GRPC.keepAlive().permitted());
  static final Setting<Integer> MAX_MESSAGE_BYTES =
      new Setting<>(
          "grpc.max_message_bytes", Forms.count(1_024, 64 << 20), GRPC.limits().messageBytes());
  static final Setting<Integer> MAX_DESCRIPTORS =
      new Setting<>("grpc.max_descriptors", Forms.count(1, 100_000), GRPC.limits().descriptors());
  static final Setting<Integer> MAX_ENTRY_BYTES =
      new Setting<>("grpc.max_entry_bytes", Forms.count(64, 64 << 20), GRPC.limits().entryBytes());
  static final Setting<Integer> MAX_CONCURRENT_CALLS =
      new Setting<>(
          "grpc.max_concurrent_calls_per_connection",
          Forms.count(1, 1_000_000),
          GRPC.limits().callsPerConnection());
  static final Setting<Integer> MAX_CONNECTIONS =
      new Setting<>("grpc.max_connections", Forms.count(1, 1_000_000), GRPC.limits().connections());
  static final Setting<Integer> MAX_RESETS =
      new Setting<>(
          "grpc.max_resets_per_second", Forms.count(1, 1_000_000), GRPC.limits().resetsPerSecond());
  static final Setting<Integer> EVENT_LOOPS =
      new Setting<>("grpc.event_loops", Forms.count(0, 1_024), GRPC.eventLoops());
  static final Setting<Duration> DRAIN_TIMEOUT =
      new Setting<>(
          "grpc.drain_timeout",
          Forms.duration(Duration.ZERO, Duration.ofHours(1)),
          GRPC.drain().timeout());
  static final Setting<Duration> DRAIN_DELAY =
      new Setting<>(
          "grpc.drain_delay",
          Forms.duration(Duration.ZERO, Duration.ofHours(1)),
          GRPC.drain().delay());

  static final Setting<Boolean> REFLECTION =
      new Setting<>("grpc.reflection", Forms.flag(), GRPC.reflection());
  static final Setting<String> HTTP_HOST =
      new Setting<>("http.host", Forms.host(), DEFAULTS.http().host());
  static final Setting<Integer> HTTP_PORT =
      new Setting<>("http.port", Forms.port(), DEFAULTS.http().port());
  static final Setting<Boolean> HTTP_JSON =
      new Setting<>("http.json", Forms.flag(), DEFAULTS.http().json());
  static final Setting<Boolean> HTTP_JSON_REFUNDS =
      new Setting<>("http.json_refunds", Forms.flag(), DEFAULTS.http().jsonRefunds());
  static final Setting<Integer> HTTP_MAX_CONNECTIONS =
      new Setting<>(
          "http.max_connections", Forms.count(16, 65_536), DEFAULTS.http().maxConnections());
  static final Setting<String> DEBUG_HOST =
      new Setting<>("debug.host", Forms.host(), DEFAULTS.debug().host());
  static final Setting<Integer> DEBUG_PORT =
      new Setting<>("debug.port", Forms.port(), DEFAULTS.debug().port());

  static final Setting<String> METRICS_ADDRESS =
      new Setting<>("metrics.address", Forms.address(), "");
  static final Setting<String> METRICS_PATH =
      new Setting<>("metrics.path", Forms.urlPath(), "/metrics");

  static final Setting<Boolean> HEADERS_ENABLED =
      new Setting<>("response.headers.enabled", Forms.flag(), RESPONSE.headers().enabled());
  static final Setting<String> HEADERS_LIMIT =
      new Setting<>("response.headers.limit", Forms.headerName(), RESPONSE.headers().limit());
  static final Setting<String> HEADERS_REMAINING =
      new Setting<>(
          "response.headers.remaining", Forms.headerName(), RESPONSE.headers().remaining());
  static final Setting<String> HEADERS_RESET =
      new Setting<>("response.headers.reset", Forms.headerName(), RESPONSE.headers().reset());
  static final Setting<Boolean> RETRY_AFTER =
      new Setting<>("response.retry_after", Forms.flag(), RESPONSE.retryAfter());
  static final Setting<Boolean> STRUCTURED_HEADERS =
      new Setting<>("response.structured_headers", Forms.flag(), RESPONSE.structuredHeaders());
  static final Setting<String> DENIED_CONTENT_TYPE =
      new Setting<>(
          "response.denied_body.content_type",
          Forms.headerValue(),
          RESPONSE.deniedBody().contentType());
  static final Setting<String> DENIED_TEXT =
      new Setting<>("response.denied_body.text", Forms.text(), RESPONSE.deniedBody().text());
  static final Setting<Boolean> DYNAMIC_METADATA =
      new Setting<>("response.dynamic_metadata", Forms.flag(), RESPONSE.dynamicMetadata());

  static final Setting<Boolean> CHARGE_REJECTED =
      new Setting<>(
          "compatibility.charge_rejected", Forms.flag(), DEFAULTS.compatibility().chargeRejected());
  static final Setting<Boolean> SHADOW_MODE =
      new Setting<>(
          "compatibility.shadow_mode", Forms.flag(), DEFAULTS.compatibility().shadowMode());
  static final Setting<Boolean> QUOTA_MODE =
      new Setting<>("compatibility.quota_mode", Forms.flag(), DEFAULTS.compatibility().quotaMode());

  static final Setting<Boolean> PROMETHEUS =
      new Setting<>("telemetry.prometheus", Forms.flag(), TELEMETRY.prometheus());
  static final Setting<Boolean> OTLP_METRICS =
      new Setting<>("telemetry.otlp_metrics", Forms.flag(), TELEMETRY.otlpMetrics());
  static final Setting<Boolean> TRACING =
      new Setting<>("telemetry.tracing", Forms.flag(), TELEMETRY.tracing());
  static final Setting<Double> SAMPLING_RATIO =
      new Setting<>("telemetry.sampling_ratio", Forms.ratio(), TELEMETRY.samplingRatio());
  static final Setting<String> OTLP_PROTOCOL =
      new Setting<>(
          "telemetry.otlp_protocol",
          Forms.word(List.of("http", "grpc"), Map.of("http/protobuf", "http")),
          TELEMETRY.otlpProtocol());
  static final Setting<String> OTLP_ENDPOINT =
      new Setting<>("telemetry.otlp_endpoint", Forms.endpoint(), TELEMETRY.otlpEndpoint());
  static final Setting<String> SERVICE_NAME =
      new Setting<>("telemetry.service_name", Forms.headerValue(), TELEMETRY.serviceName());
  static final Setting<String> LOG_LEVEL =
      new Setting<>(
          "telemetry.log_level",
          Forms.word(
              List.of("trace", "debug", "info", "warn", "error"),
              Map.of("warning", "warn", "fatal", "error", "panic", "error")),
          TELEMETRY.logLevel());
  static final Setting<String> LOG_FORMAT =
      new Setting<>(
          "telemetry.log_format",
          Forms.word(List.of("text", "json"), Map.of()),
          TELEMETRY.logFormat());
  static final Setting<Double> NEAR_LIMIT_RATIO =
      new Setting<>("telemetry.near_limit_ratio", Forms.ratio(), TELEMETRY.nearLimitRatio());
  static final Setting<Integer> MAX_SERIES =
      new Setting<>("telemetry.max_series", Forms.count(1, 10_000_000), TELEMETRY.maxSeries());

  static final Setting<Boolean> STORE_MUST_BE_REACHABLE =
      new Setting<>(
          "health.store_must_be_reachable", Forms.flag(), DEFAULTS.health().storeMustBeReachable());
  static final Setting<Boolean> NEEDS_POLICIES =
      new Setting<>("health.needs_policies", Forms.flag(), DEFAULTS.health().needsPolicies());
  static final Setting<Integer> WARM_UP_REQUESTS =
      new Setting<>("warm_up.requests", Forms.count(0, 10_000_000), DEFAULTS.warmUp().requests());

  private static final List<Setting<?>> BEFORE_STORE =
      List.of(
          POLICY_PATHS,
          RUNTIME_ROOT,
          RUNTIME_SUBDIRECTORY,
          RUNTIME_APP_DIRECTORY,
          RUNTIME_WATCH_ROOT,
          RUNTIME_IGNORE_DOT_FILES,
          MERGE_DOMAINS,
          POLL_INTERVAL,
          REQUIRE_AT_START,
          GRPC_HOST,
          GRPC_PORT,
          UNIX_SOCKET,
          TLS_CERTIFICATE,
          TLS_KEY,
          TLS_CLIENT_CA,
          TLS_CLIENT_SAN,
          MAX_CONNECTION_AGE,
          MAX_CONNECTION_AGE_GRACE,
          MAX_CONNECTION_IDLE,
          KEEP_ALIVE_TIME,
          KEEP_ALIVE_TIMEOUT,
          PERMIT_KEEP_ALIVE_TIME,
          MAX_MESSAGE_BYTES,
          MAX_DESCRIPTORS,
          MAX_ENTRY_BYTES,
          MAX_CONCURRENT_CALLS,
          MAX_CONNECTIONS,
          MAX_RESETS,
          EVENT_LOOPS,
          DRAIN_TIMEOUT,
          DRAIN_DELAY,
          REFLECTION,
          HTTP_HOST,
          HTTP_PORT,
          HTTP_JSON,
          HTTP_JSON_REFUNDS,
          HTTP_MAX_CONNECTIONS,
          DEBUG_HOST,
          DEBUG_PORT,
          METRICS_ADDRESS,
          METRICS_PATH);

  private static final List<Setting<?>> AFTER_STORE =
      List.of(
          HEADERS_ENABLED,
          HEADERS_LIMIT,
          HEADERS_REMAINING,
          HEADERS_RESET,
          RETRY_AFTER,
          STRUCTURED_HEADERS,
          DENIED_CONTENT_TYPE,
          DENIED_TEXT,
          DYNAMIC_METADATA,
          CHARGE_REJECTED,
          SHADOW_MODE,
          QUOTA_MODE,
          PROMETHEUS,
          OTLP_METRICS,
          TRACING,
          SAMPLING_RATIO,
          OTLP_PROTOCOL,
          OTLP_ENDPOINT,
          SERVICE_NAME,
          LOG_LEVEL,
          LOG_FORMAT,
          NEAR_LIMIT_RATIO,
          MAX_SERIES,
          STORE_MUST_BE_REACHABLE,
          NEEDS_POLICIES,
          WARM_UP_REQUESTS);

  static final List<Setting<?>> ALL =
      Stream.of(
              BEFORE_STORE,
              StoreSettings.ALL,
              FederationSettings.ALL,
              ConcurrencySettings.ALL,
              SensorsSettings.ALL,
              AFTER_STORE,
              ExtAuthzSettings.ALL)
          .flatMap(List::stream)
          .toList();

  private Settings() {}

  /** Returns the setting at a path of the file, or null. */
  static @Nullable Setting<?> at(String path) {
    for (Setting<?> setting : ALL) {
      if (setting.path().equals(path)) {
        return setting;
      }
    }
    return null;
  }
}
