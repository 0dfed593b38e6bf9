package io.throttlekit.service.config.load;

import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads the environment variables of envoyproxy/ratelimit, so that a deployment can switch images.
 */
final class PeerEnvironment {
  private static final String OVER_XDS = "GRPC_XDS_SOTW";
  private static final String SERVER = "policies.xds.server";
  private static final String MOGRIFIERS = "USE_DOG_STATSD_MOGRIFIERS";
  private static final String MOGRIFIER = "DOG_STATSD_MOGRIFIER_";
  private static final Pattern WHOLE_NUMBER = Pattern.compile("[0-9]{1,19}");

  private final Map<String, String> environment;
  private final SettingValues values;
  private final Map<String, Boolean> switches = new HashMap<>();

  /** Creates a reader of the variables, none of which is empty. */
  PeerEnvironment(Map<String, String> environment, SettingValues values) {
    this.environment = environment;
    this.values = values;
  }

  /** Puts that program's defaults in place of settings without a value; to be called last. */
  void putDefaults() {
    for (Setting setting : Settings.ALL) {
      String peerDefault = setting.attribute("peer_default");
      // Over xDS, that program waits for policies unless it is told otherwise.
      boolean waits = isOverXds() && setting.path().equals("policies.require_at_start");
      if (!peerDefault.isEmpty() && !waits) {
        values.putDefault(setting.path(), peerDefault);
      }
    }
    // The setting is on by default, but that program listens only where the variable is set.
    boolean prometheus =
        Boolean.TRUE.equals(Form.parseFlag(environment.getOrDefault("USE_PROMETHEUS", "")));
    if (prometheus) {
      values.putDefault("metrics.address", ":9090");
    }
    // That program sends to statsd unless another sink is chosen; here a server has to be named.
    if ((environment.containsKey("STATSD_HOST") || environment.containsKey("STATSD_PORT"))
        && !prometheus
        && !isOn("DISABLE_STATS")) {
      values.putDefault("telemetry.statsd.enabled", "true");
    }
  }

  /** Puts the variables' settings into the values. */
  void read() {
    refuseOtherProviders();
    if (environment.containsKey("RUNTIME_SUBDIRECTORY")) {
      // That program's default, which it uses without RUNTIME_ROOT.
      values.putDefault("policies.runtime.root", "/srv/runtime_data/current");
    }
    if (isOverXds()) {
      values.putDefault(SERVER, "localhost:18000"); // that program's default
      if (Boolean.FALSE.equals(value("XDS_CLIENT_BACKOFF_JITTER"))) {
        values.put(
            "policies.xds.backoff.jitter", 0.0, Origin.variable("XDS_CLIENT_BACKOFF_JITTER"));
      }
    }
    Settings.ALL.forEach(this::read);
    if (isOn("GRPC_SERVER_USE_TLS")
        && !(values.differs("grpc.tls.certificate") && values.differs("grpc.tls.key"))) {
      values.error(
          Origin.variable("GRPC_SERVER_USE_TLS"),
          "needs GRPC_SERVER_TLS_CERT and GRPC_SERVER_TLS_KEY");
    }
    readDogStatsd();
    PeerStore.read(this, values);
  }

  /** Reads what selects a DogStatsD server, which listens on UDP. */
  private void readDogStatsd() {
    Origin origin = Origin.variable("USE_DOG_STATSD");
    if (isOn("USE_DOG_STATSD")) {
      values.put("telemetry.statsd.enabled", !isOn("DISABLE_STATS"), origin);
      values.put("telemetry.statsd.format", "dogstatsd", origin);
      values.put("telemetry.statsd.protocol", "udp", origin);
    }
    List<String> names =
        Stream.of(environment.getOrDefault(MOGRIFIERS, "").split(",", -1))
            .map(name -> name.strip().toUpperCase(Locale.ROOT))
            .filter(name -> !name.isEmpty())
            .toList();
    if (!names.isEmpty()) {
      String rules = names.stream().map(this::mogrifier).collect(Collectors.joining(" ; "));
      values.read("telemetry.statsd.rewrites", rules, Origin.variable(MOGRIFIERS));
    }
    String others =
        environment.keySet().stream()
            .filter(variable -> variable.startsWith(MOGRIFIER))
            .filter(variable ->
                names.stream().noneMatch(name -> variable.startsWith(MOGRIFIER + name + "_")))
            .sorted()
            .collect(Collectors.joining(", "));
    if (!others.isEmpty()) {
      values.warn("set but without effect: " + others + " (" + MOGRIFIERS + " does not name them)");
    }
  }

  /** Returns a rule of that program for other names, as our setting has it. */
  private String mogrifier(String name) {
    String prefix = MOGRIFIER + name;
    String pattern = environment.getOrDefault(prefix + "_PATTERN", "");
    String other = environment.getOrDefault(prefix + "_NAME", "");
    if (pattern.isEmpty() || other.isEmpty()) {
      values.error(
          Origin.variable(MOGRIFIERS),
          "names %s, which needs %s_PATTERN and %s_NAME".formatted(name, prefix, prefix));
      return "";
    }
    String tags = environment.getOrDefault(prefix + "_TAGS", "");
    return pattern.replace(" ", "\\x20") + " " + other + " " + tags;
  }

  private void read(Setting setting) {
    String condition = setting.attribute("peer_if");
    // That program has one set of TLS files for both of its Redis servers.
    boolean ofSecondRedis =
        condition.equals("REDIS_TLS") && isOn("REDIS_PERSECOND") && isOn("REDIS_PERSECOND_TLS");
    if (!condition.isEmpty() && !isOn(condition) && !ofSecondRedis) {
      return;
    }
    String same = setting.attribute("peer");
    String text = text(same);
    if (text != null) {
      boolean plain = WHOLE_NUMBER.matcher(text).matches();
      String unit = plain ? setting.attribute("peer_unit") : "";
      values.read(setting.path(), text + unit, Origin.variable(same));
    }
    String opposite = setting.attribute("peer_not");
    if (isOn(opposite)) { // false is that program's default for these, not a choice
      values.put(setting.path(), false, Origin.variable(opposite));
    }
  }

  /** Reports a second Redis without an address; to be called when the store is known. */
  void checkSecondRedis() {
    if (isOn("REDIS_PERSECOND")
        && !Assembly.inMemory(values)
        && text("REDIS_PERSECOND_URL") == null
        && !values.differs("store.per_second.uri")) {
      values.error(Origin.variable("REDIS_PERSECOND"), "needs REDIS_PERSECOND_URL");
    }
  }

  /** Warns in one line of variables without effect; to be called when the store is known. */
  void warnOfIgnored() {
    List<Map.Entry<String, List<String>>> reasons =
        Stream.of(
                Assembly.inMemory(values) ? "without_store" : "with_store",
                isOn("REDIS_PERSECOND") ? "with_second_redis" : "without_second_redis",
                Assembly.overXds(values) ? "with_xds" : "without_xds",
                "always")
            .flatMap(when -> Settings.ignored(when).entrySet().stream())
            .toList();
    Map<String, Set<String>> byReason = new TreeMap<>();
    environment.forEach((name, text) -> {
      if (!Settings.switches().contains(name) || !Boolean.FALSE.equals(Form.parseFlag(text))) {
        reasons.stream()
            .filter(reason -> covers(reason.getValue(), name))
            .findFirst()
            .ifPresent(reason ->
                byReason.computeIfAbsent(reason.getKey(), _ -> new TreeSet<>()).add(name));
      }
    });
    if (!byReason.isEmpty()) {
      values.warn(
          byReason.entrySet().stream()
              .map(entry -> String.join(", ", entry.getValue()) + " (" + entry.getKey() + ")")
              .collect(Collectors.joining("; ", "set but without effect here: ", "")));
    }
  }

  /** Returns whether a name is one of {@code names}, or begins with one that is a prefix. */
  private static boolean covers(List<String> names, String variable) {
    return names.stream()
        .anyMatch(name -> name.endsWith("_") ? variable.startsWith(name) : variable.equals(name));
  }

  /** Returns the text of a variable; null when it is not set. */
  @Nullable String text(String name) {
    return environment.get(name);
  }

  /** Returns the value of a variable; null when it is not set, or invalid, which is reported. */
  @Nullable Object value(String name) {
    String text = environment.get(name);
    return text == null
        ? null
        : values.parse(Settings.variable(name), List.of(text), Origin.variable(name));
  }

  /** Returns whether a variable is true, or selects xDS; reports an invalid one, once. */
  boolean isOn(String name) {
    return switches.computeIfAbsent(
        name,
        _ -> {
          Object value = value(name);
          return Boolean.TRUE.equals(value) || OVER_XDS.equals(value);
        });
  }

  /** Returns whether the variables select policies over xDS. */
  boolean isOverXds() {
    return isOn("CONFIG_TYPE");
  }

  private void refuseOtherProviders() {
    if ("memcache".equals(value("BACKEND_TYPE"))) {
      values.error(
          Origin.variable("BACKEND_TYPE"),
          "memcache is no store here, and counters in the memory of each process would multiply"
              + " every limit by the number of processes; name a Redis in REDIS_URL with"
              + " BACKEND_TYPE=redis, or a store in store.uri without BACKEND_TYPE");
    }
  }
}
