package io.throttlekit.service.config;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the environment variables of envoyproxy/ratelimit, so that a deployment can switch images.
 */
final class PeerEnvironment {

  /** Variables with the same meaning as a setting of ours. */
  private static final Map<String, Setting<?>> SAME =
      Map.ofEntries(
          Map.entry("RUNTIME_ROOT", Settings.RUNTIME_ROOT),
          Map.entry("RUNTIME_SUBDIRECTORY", Settings.RUNTIME_SUBDIRECTORY),
          Map.entry("RUNTIME_APPDIRECTORY", Settings.RUNTIME_APP_DIRECTORY),
          Map.entry("RUNTIME_WATCH_ROOT", Settings.RUNTIME_WATCH_ROOT),
          Map.entry("RUNTIME_IGNOREDOTFILES", Settings.RUNTIME_IGNORE_DOT_FILES),
          Map.entry("HOST", Settings.HTTP_HOST),
          Map.entry("PORT", Settings.HTTP_PORT),
          Map.entry("DEBUG_HOST", Settings.DEBUG_HOST),
          Map.entry("DEBUG_PORT", Settings.DEBUG_PORT),
          Map.entry("GRPC_HOST", Settings.GRPC_HOST),
          Map.entry("GRPC_PORT", Settings.GRPC_PORT),
          Map.entry("GRPC_UDS", Settings.UNIX_SOCKET),
          Map.entry("GRPC_MAX_CONNECTION_AGE", Settings.MAX_CONNECTION_AGE),
          Map.entry("GRPC_MAX_CONNECTION_AGE_GRACE", Settings.MAX_CONNECTION_AGE_GRACE),
          Map.entry("LOG_LEVEL", Settings.LOG_LEVEL),
          Map.entry("LOG_FORMAT", Settings.LOG_FORMAT),
          Map.entry("MERGE_DOMAIN_CONFIG", Settings.MERGE_DOMAINS),
          Map.entry("NEAR_LIMIT_RATIO", Settings.NEAR_LIMIT_RATIO),
          Map.entry("LIMIT_RESPONSE_HEADERS_ENABLED", Settings.HEADERS_ENABLED),
          Map.entry("LIMIT_LIMIT_HEADER", Settings.HEADERS_LIMIT),
          Map.entry("LIMIT_REMAINING_HEADER", Settings.HEADERS_REMAINING),
          Map.entry("LIMIT_RESET_HEADER", Settings.HEADERS_RESET),
          Map.entry("HEALTHY_WITH_AT_LEAST_ONE_CONFIG_LOADED", Settings.NEEDS_POLICIES),
          Map.entry("REDIS_HEALTH_CHECK_ACTIVE_CONNECTION", Settings.STORE_MUST_BE_REACHABLE),
          Map.entry("CACHE_KEY_PREFIX", StoreSettings.KEY_PREFIX),
          Map.entry("REDIS_TIMEOUT", StoreSettings.CONNECT_TIMEOUT),
          Map.entry("SHADOW_MODE", Settings.SHADOW_MODE),
          Map.entry("QUOTA_MODE", Settings.QUOTA_MODE),
          Map.entry("RESPONSE_DYNAMIC_METADATA", Settings.DYNAMIC_METADATA),
          Map.entry("USE_PROMETHEUS", Settings.PROMETHEUS),
          Map.entry("PROMETHEUS_ADDR", Settings.METRICS_ADDRESS),
          Map.entry("PROMETHEUS_PATH", Settings.METRICS_PATH),
          Map.entry("TRACING_ENABLED", Settings.TRACING),
          Map.entry("TRACING_SERVICE_NAME", Settings.SERVICE_NAME),
          Map.entry("TRACING_EXPORTER_PROTOCOL", Settings.OTLP_PROTOCOL),
          Map.entry("TRACING_SAMPLING_RATE", Settings.SAMPLING_RATIO),
          Map.entry("OTEL_EXPORTER_OTLP_ENDPOINT", Settings.OTLP_ENDPOINT));

  /** Variables for certificates, which count only when GRPC_SERVER_USE_TLS is true. */
  private static final Map<String, Setting<?>> TLS =
      Map.of(
          "GRPC_SERVER_TLS_CERT", Settings.TLS_CERTIFICATE,
          "GRPC_SERVER_TLS_KEY", Settings.TLS_KEY,
          "GRPC_CLIENT_TLS_CACERT", Settings.TLS_CLIENT_CA,
          "GRPC_CLIENT_TLS_SAN", Settings.TLS_CLIENT_SAN);

  private static final Origin DEFAULT = new Origin.PeerDefault();

  private final Map<String, String> environment = new LinkedHashMap<>();
  private final SettingValues values;

  /** Creates a reader of the variables that are not empty. */
  PeerEnvironment(Map<String, String> environment, SettingValues values) {
    environment.forEach((name, value) -> {
      if (!value.isEmpty()) {
        this.environment.put(name, value);
      }
    });
    this.values = values;
  }

  /** Puts that program's defaults in place of settings without a value; to be called last. */
  void putDefaults() {
    putDefault(Settings.CHARGE_REJECTED, true);
    putDefault(Settings.HTTP_JSON, true);
    putDefault(Settings.MERGE_DOMAINS, false);
    putDefault(Settings.REQUIRE_AT_START, false);
    putDefault(Settings.RETRY_AFTER, false);
    putDefault(Settings.MAX_CONNECTION_AGE, Duration.ofHours(24));
    putDefault(Settings.MAX_CONNECTION_AGE_GRACE, Duration.ofHours(1));
    putDefault(Settings.LOG_LEVEL, "warn");
    putDefault(Settings.SERVICE_NAME, "RateLimit");
    if (Boolean.TRUE.equals(Forms.flag().parse(List.of(value("USE_PROMETHEUS"))))) {
      putDefault(Settings.METRICS_ADDRESS, ":9090");
    }
  }

  private <T> void putDefault(Setting<T> setting, T value) {
    if (values.origin(setting) instanceof Origin.Default) {
      values.put(setting, value, DEFAULT);
    }
  }

  /** Puts the variables' settings into {@code values}. */
  void read() {
    readProvider();
    if (environment.containsKey("RUNTIME_SUBDIRECTORY")) {
      // That program's default, which it uses without RUNTIME_ROOT.
      putDefault(Settings.RUNTIME_ROOT, "/srv/runtime_data/current");
    }
    SAME.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(same -> readSame(same.getKey(), same.getValue()));
    readTls();
    new PeerStore(environment, values).read();
    readChargeRejected();
    Boolean start = flag("FORCE_START_WITHOUT_INITIAL_CONFIG");
    if (start != null && start) {
      values.put(
          Settings.REQUIRE_AT_START,
          false,
          new Origin.Variable("FORCE_START_WITHOUT_INITIAL_CONFIG"));
    }
  }

  /** Warns of variables without effect; to be called when the store is known. */
  void warnOfIgnored() {
    boolean inMemory = values.get(StoreSettings.URI).address().inMemory();
    String warning = IgnoredVariables.warning(environment, inMemory);
    if (!warning.isEmpty()) {
      values.warn(warning);
    }
  }

  private void readProvider() {
    String type = environment.getOrDefault("CONFIG_TYPE", "FILE");
    Origin origin = new Origin.Variable("CONFIG_TYPE");
    if (type.equalsIgnoreCase("GRPC_XDS_SOTW")) {
      values.error(
          origin,
          "GRPC_XDS_SOTW, policies over xDS, is not built in this version; FILE reads them from"
              + " files");
    } else if (!type.equalsIgnoreCase("FILE")) {
      values.error(origin, notOneOf(type, List.of("FILE", "GRPC_XDS_SOTW")));
    }
    String store = environment.getOrDefault("BACKEND_TYPE", "redis");
    Origin backend = new Origin.Variable("BACKEND_TYPE");
    if (store.equals("memcache")) {
      values.error(
          backend,
          "memcache is no store here, and counters in the memory of each process would multiply"
              + " every limit by the number of processes; name a Redis in REDIS_URL with"
              + " BACKEND_TYPE=redis, or a store in store.uri without BACKEND_TYPE");
    } else if (!store.equals("redis")) {
      values.error(backend, notOneOf(store, List.of("redis")));
    }
  }

  private static String notOneOf(String value, List<String> words) {
    return Forms.alwaysQuoted(Secrets.mask(value))
        + " is not one of "
        + String.join(", ", words)
        + Spelling.hint(value, words);
  }

  private void readSame(String name, Setting<?> setting) {
    String value = environment.get(name);
    if (value != null) {
      values.read(setting, List.of(value), new Origin.Variable(name));
    }
  }

  private void readTls() {
    Boolean use = flag("GRPC_SERVER_USE_TLS");
    if (use == null || !use) {
      return;
    }
    TLS.entrySet().stream()
        .sorted(Map.Entry.comparingByKey())
        .forEach(part -> readSame(part.getKey(), part.getValue()));
    if (values.get(Settings.TLS_CERTIFICATE).isEmpty() || values.get(Settings.TLS_KEY).isEmpty()) {
      values.error(
          new Origin.Variable("GRPC_SERVER_USE_TLS"),
          "needs GRPC_SERVER_TLS_CERT and GRPC_SERVER_TLS_KEY");
    }
  }

  private void readChargeRejected() {
    Boolean stop = flag("STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT");
    if (stop != null && stop) { // false is that program's default, not a choice
      values.put(
          Settings.CHARGE_REJECTED,
          false,
          new Origin.Variable("STOP_CACHE_KEY_INCREMENT_WHEN_OVERLIMIT"));
    }
  }

  private @Nullable Boolean flag(String name) {
    String value = environment.get(name);
    if (value == null) {
      return null;
    }
    Form<Boolean> form = Forms.flag();
    Boolean flag = form.parse(List.of(value));
    if (flag == null) {
      values.error(
          new Origin.Variable(name), Forms.alwaysQuoted(value) + " is not " + form.expected());
    }
    return flag;
  }

  private String value(String name) {
    return environment.getOrDefault(name, "");
  }
}
