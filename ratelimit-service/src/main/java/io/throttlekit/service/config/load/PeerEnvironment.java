package io.throttlekit.service.config.load;

import static io.throttlekit.service.config.load.Settings.LISTENERS;
import static io.throttlekit.service.config.load.Settings.POLICIES;
import static io.throttlekit.service.config.load.Settings.RESPONSE;
import static io.throttlekit.service.config.load.Settings.STORE;
import static io.throttlekit.service.config.load.Settings.TELEMETRY;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Reads the environment variables of envoyproxy/ratelimit, so that a deployment can switch images.
 */
final class PeerEnvironment {

  /** Variables with the same meaning as a setting of ours. */
  private static final Map<String, Setting<?>> SAME =
      Map.ofEntries(
          Map.entry("RUNTIME_ROOT", POLICIES.runtimeRoot),
          Map.entry("RUNTIME_SUBDIRECTORY", POLICIES.runtimeSubdirectory),
          Map.entry("RUNTIME_APPDIRECTORY", POLICIES.runtimeAppDirectory),
          Map.entry("RUNTIME_WATCH_ROOT", POLICIES.runtimeWatchRoot),
          Map.entry("RUNTIME_IGNOREDOTFILES", POLICIES.runtimeIgnoreDotFiles),
          Map.entry("HOST", LISTENERS.httpHost),
          Map.entry("PORT", LISTENERS.httpPort),
          Map.entry("DEBUG_HOST", LISTENERS.debugHost),
          Map.entry("DEBUG_PORT", LISTENERS.debugPort),
          Map.entry("GRPC_HOST", LISTENERS.grpcHost),
          Map.entry("GRPC_PORT", LISTENERS.grpcPort),
          Map.entry("GRPC_UDS", LISTENERS.unixSocket),
          Map.entry("GRPC_MAX_CONNECTION_AGE", LISTENERS.maxConnectionAge),
          Map.entry("GRPC_MAX_CONNECTION_AGE_GRACE", LISTENERS.maxConnectionAgeGrace),
          Map.entry("LOG_LEVEL", TELEMETRY.logLevel),
          Map.entry("LOG_FORMAT", TELEMETRY.logFormat),
          Map.entry("MERGE_DOMAIN_CONFIG", POLICIES.mergeDomains),
          Map.entry("NEAR_LIMIT_RATIO", TELEMETRY.nearLimitRatio),
          Map.entry("LIMIT_RESPONSE_HEADERS_ENABLED", RESPONSE.headersEnabled),
          Map.entry("LIMIT_LIMIT_HEADER", RESPONSE.headersLimit),
          Map.entry("LIMIT_REMAINING_HEADER", RESPONSE.headersRemaining),
          Map.entry("LIMIT_RESET_HEADER", RESPONSE.headersReset),
          Map.entry("HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED", TELEMETRY.needsPolicies),
          Map.entry("REDIS_HEALTH_CHECK_ACTIVE_CONNECTION", TELEMETRY.storeMustBeReachable),
          Map.entry("CACHE_KEY_PREFIX", STORE.keyPrefix),
          Map.entry("REDIS_TIMEOUT", STORE.connectTimeout),
          Map.entry("SHADOW_MODE", RESPONSE.shadowMode),
          Map.entry("QUOTA_MODE", RESPONSE.quotaMode),
          Map.entry("RESPONSE_DYNAMIC_METADATA", RESPONSE.dynamicMetadata),
          Map.entry("USE_PROMETHEUS", TELEMETRY.prometheus),
          Map.entry("PROMETHEUS_ADDR", LISTENERS.metricsAddress),
          Map.entry("PROMETHEUS_PATH", LISTENERS.metricsPath),
          Map.entry("TRACING_ENABLED", TELEMETRY.tracing),
          Map.entry("TRACING_SERVICE_NAME", TELEMETRY.serviceName),
          Map.entry("TRACING_EXPORTER_PROTOCOL", TELEMETRY.otlpProtocol),
          Map.entry("TRACING_SAMPLING_RATE", TELEMETRY.samplingRatio),
          Map.entry("OTEL_EXPORTER_OTLP_ENDPOINT", TELEMETRY.otlpEndpoint));

  /** Variables for certificates, which count only when GRPC_SERVER_USE_TLS is true. */
  private static final Map<String, Setting<?>> TLS =
      Map.of(
          "GRPC_SERVER_TLS_CERT", LISTENERS.tls.certificate,
          "GRPC_SERVER_TLS_KEY", LISTENERS.tls.key,
          "GRPC_CLIENT_TLS_CACERT", LISTENERS.tls.clientCa,
          "GRPC_CLIENT_TLS_SAN", LISTENERS.tlsClientSan);

  private final Map<String, String> environment;
  private final SettingValues values;

  /** Creates a reader of the variables, none of which is empty. */
  PeerEnvironment(Map<String, String> environment, SettingValues values) {
    this.environment = environment;
    this.values = values;
  }

  /** Puts that program's defaults in place of settings without a value; to be called last. */
  void putDefaults() {
    values.putDefault(RESPONSE.chargeRejected, true);
    values.putDefault(LISTENERS.httpJson, true);
    values.putDefault(POLICIES.mergeDomains, false);
    values.putDefault(POLICIES.requireAtStart, false);
    values.putDefault(RESPONSE.retryAfter, false);
    values.putDefault(LISTENERS.maxConnectionAge, Duration.ofHours(24));
    values.putDefault(LISTENERS.maxConnectionAgeGrace, Duration.ofHours(1));
    values.putDefault(TELEMETRY.logLevel, "warn");
    values.putDefault(TELEMETRY.serviceName, "RateLimit");
    // The setting is on by default, but that program listens only where the variable is set.
    String prometheus = environment.getOrDefault("USE_PROMETHEUS", "");
    if (Boolean.TRUE.equals(Forms.flag().parse(List.of(prometheus)))) {
      values.putDefault(LISTENERS.metricsAddress, Optional.of(":9090"));
    }
  }

  /** Puts the variables' settings into the values. */
  void read() {
    readProvider();
    if (environment.containsKey("RUNTIME_SUBDIRECTORY")) {
      // That program's default, which it uses without RUNTIME_ROOT.
      values.putDefault(POLICIES.runtimeRoot, "/srv/runtime_data/current");
    }
    readSame(SAME);
    if (isOn("GRPC_SERVER_USE_TLS")) {
      readSame(TLS);
      if (!values.differs(LISTENERS.tls.certificate) || !values.differs(LISTENERS.tls.key)) {
        values.error(
            Origin.variable("GRPC_SERVER_USE_TLS"),
            "needs GRPC_SERVER_TLS_CERT and GRPC_SERVER_TLS_KEY");
      }
    }
    new PeerStore(this, values).read();
    // False is that program's default for both, not a choice.
    putIfOn("STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT", RESPONSE.chargeRejected, false);
    putIfOn("FORCE_START_WITHOUT_INITIAL_CONFIG", POLICIES.requireAtStart, false);
  }

  /** Warns of variables without effect; to be called when the store is known. */
  void warnOfIgnored() {
    String warning = IgnoredVariables.warning(environment, STORE.inMemory(values));
    if (!warning.isEmpty()) {
      values.warn(warning);
    }
  }

  /** Returns the text of a variable; null when it is not set. */
  @Nullable String text(String name) {
    return environment.get(name);
  }

  /** Returns the value of a variable; null when it is not set, or invalid, which is reported. */
  <T> @Nullable T value(String name, Form<T> form) {
    String text = environment.get(name);
    T value = text == null ? null : form.parse(List.of(text));
    if (text != null && value == null) {
      values.error(
          Origin.variable(name),
          Forms.alwaysQuoted(Secrets.mask(text))
              + " is not "
              + form.expected()
              + Spelling.hint(text, form.words()));
    }
    return value;
  }

  /** Returns whether a variable is true; reports an invalid one. */
  boolean isOn(String name) {
    return Boolean.TRUE.equals(value(name, Forms.flag()));
  }

  /** Sets a value if a variable is true. */
  void putIfOn(String name, Setting<Boolean> setting, boolean value) {
    if (isOn(name)) {
      values.put(setting, value, Origin.variable(name));
    }
  }

  /** Reads the settings of the variables that are set. */
  void readSame(Map<String, Setting<?>> settings) {
    environment.forEach((name, text) -> {
      Setting<?> setting = settings.get(name);
      if (setting != null) {
        values.read(setting, List.of(text), Origin.variable(name));
      }
    });
  }

  private void readProvider() {
    String config = value("CONFIG_TYPE", Forms.word(List.of("FILE", "GRPC_XDS_SOTW"), Map.of()));
    if ("GRPC_XDS_SOTW".equals(config)) {
      values.error(
          Origin.variable("CONFIG_TYPE"),
          "GRPC_XDS_SOTW, policies over xDS, is not built in this version; FILE reads them from"
              + " files");
    }
    String backend = value("BACKEND_TYPE", Forms.word(List.of("redis", "memcache"), Map.of()));
    if ("memcache".equals(backend)) {
      values.error(
          Origin.variable("BACKEND_TYPE"),
          "memcache is no store here, and counters in the memory of each process would multiply"
              + " every limit by the number of processes; name a Redis in REDIS_URL with"
              + " BACKEND_TYPE=redis, or a store in store.uri without BACKEND_TYPE");
    }
  }
}
