package io.throttlekit.service.config.load;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Variables of envoyproxy/ratelimit that have no effect here, and why. */
final class IgnoredVariables {

  private static final String IN_MEMORY =
      "counters are in the memory of this process: store.uri is memory";
  private static final String ONE_STORE = "one store holds the counters of every unit";
  private static final String NO_POOL = "connections are shared, there is no pool";
  private static final String BATCHED = "requests are batched as they arrive";
  private static final String STARTS = "it starts without its store, and keeps connecting";
  private static final String NO_MEMCACHE = "memcache is no store here";
  private static final String ONE_OTLP = "OTLP has only an endpoint and a protocol here";
  private static final String NO_STATSD = "metrics are for Prometheus and OTLP";

  /** A name, or a prefix of names when it ends in an underscore. */
  private record Ignored(String name, String reason) {
    boolean covers(String variable) {
      return name.endsWith("_") ? variable.startsWith(name) : variable.equals(name);
    }
  }

  /** Variables for a store, without effect while counters are in memory. */
  private static final List<Ignored> WITHOUT_STORE =
      List.of(
          new Ignored(
              "REDIS_HEALTH_CHECK_ACTIVE_CONNECTION",
              "counters are in memory, which is always reachable"),
          new Ignored("REDIS_", IN_MEMORY),
          new Ignored("MEMCACHE_", IN_MEMORY),
          new Ignored("BACKEND_TYPE", IN_MEMORY),
          new Ignored("CACHE_KEY_PREFIX", IN_MEMORY),
          new Ignored("EXPIRATION_JITTER_MAX_SECONDS", IN_MEMORY),
          new Ignored("LOCAL_CACHE_SIZE_IN_BYTES", "counters are in memory already"));

  /** Variables for features of a store that cannot be configured here. */
  private static final List<Ignored> WITH_STORE =
      List.of(
          new Ignored("REDIS_PERSECOND", ONE_STORE),
          new Ignored("REDIS_PERSECOND_", ONE_STORE),
          new Ignored("REDIS_POOL_", NO_POOL),
          new Ignored("REDIS_PIPELINE_", BATCHED),
          new Ignored("REDIS_CLUSTER_PIPELINE_PARALLELISM", BATCHED),
          new Ignored("REDIS_STARTUP_", STARTS),
          new Ignored("MEMCACHE_", NO_MEMCACHE),
          new Ignored("EXPIRATION_JITTER_MAX_SECONDS", "keys expire with their windows"));

  private static final List<Ignored> ALWAYS =
      List.of(
          new Ignored("CONFIG_GRPC_XDS_", "policies come from files in this version"),
          new Ignored("XDS_CLIENT_", "policies come from files in this version"),
          new Ignored("USE_STATSD", NO_STATSD),
          new Ignored("STATSD_", NO_STATSD),
          new Ignored("GOSTATS_", NO_STATSD),
          new Ignored("USE_DOG_STATSD", NO_STATSD),
          new Ignored("USE_DOG_STATSD_MOGRIFIERS", NO_STATSD),
          new Ignored("DOG_STATSD_MOGRIFIER_", NO_STATSD),
          new Ignored("EXTRA_TAGS", NO_STATSD),
          new Ignored("STATS_FLUSH_INTERVAL", NO_STATSD),
          new Ignored("DISABLE_STATS", "use telemetry.prometheus and telemetry.otlp_metrics"),
          new Ignored("PROMETHEUS_MAPPER_YAML", "metric names are fixed"),
          new Ignored("PROMETHEUS_RESPONSE_TIME_AS_MILLISECONDS", "times are in seconds"),
          new Ignored("OTEL_EXPORTER_OTLP_TRACES_", ONE_OTLP),
          new Ignored("OTEL_EXPORTER_OTLP_METRICS_", ONE_OTLP),
          new Ignored("OTEL_EXPORTER_OTLP_HEADERS", ONE_OTLP),
          new Ignored("OTEL_EXPORTER_OTLP_TIMEOUT", ONE_OTLP),
          new Ignored("OTEL_EXPORTER_OTLP_COMPRESSION", ONE_OTLP),
          new Ignored("OTEL_EXPORTER_OTLP_INSECURE", ONE_OTLP),
          new Ignored("OTEL_EXPORTER_OTLP_CERTIFICATE", ONE_OTLP),
          new Ignored("OTEL_EXPORTER_OTLP_CLIENT_", ONE_OTLP),
          new Ignored("OTEL_SERVICE_NAME", "the name is telemetry.service_name"),
          new Ignored("OTEL_RESOURCE_ATTRIBUTES", "traces carry the service name only"),
          new Ignored("TRACING_SERVICE_NAMESPACE", "traces carry the service name only"),
          new Ignored("TRACING_SERVICE_INSTANCE_ID", "traces carry the service name only"));

  private static final Set<String> SWITCHES =
      Set.of(
          "REDIS_HEALTH_CHECK_ACTIVE_CONNECTION",
          "REDIS_PERSECOND",
          "USE_STATSD",
          "USE_DOG_STATSD",
          "DISABLE_STATS");

  private IgnoredVariables() {}

  /**
   * Returns one line that lists the variables by reason, or an empty text.
   *
   * @param inMemory whether counters are in the memory of this process
   */
  static String warning(Map<String, String> environment, boolean inMemory) {
    List<Ignored> ofStore = inMemory ? WITHOUT_STORE : WITH_STORE;
    Map<String, TreeSet<String>> byReason = new TreeMap<>();
    environment.forEach((name, value) -> {
      String reason = reason(name, value, ofStore);
      if (!reason.isEmpty()) {
        byReason.computeIfAbsent(reason, _ -> new TreeSet<>()).add(name);
      }
    });
    return byReason.isEmpty()
        ? ""
        : byReason.entrySet().stream()
            .map(entry -> String.join(", ", entry.getValue()) + " (" + entry.getKey() + ")")
            .collect(Collectors.joining("; ", "set but without effect here: ", ""));
  }

  private static String reason(String name, String value, List<Ignored> ofStore) {
    if (turnsOff(name, value)) {
      return "";
    }
    return Stream.concat(ofStore.stream(), ALWAYS.stream())
        .filter(ignored -> ignored.covers(name))
        .findFirst()
        .map(Ignored::reason)
        .orElse("");
  }

  /**
   * Returns whether the variable turns off a feature that does not exist here; it needs no warning.
   */
  private static boolean turnsOff(String name, String value) {
    return SWITCHES.contains(name) && Boolean.FALSE.equals(Forms.flag().parse(List.of(value)));
  }
}
