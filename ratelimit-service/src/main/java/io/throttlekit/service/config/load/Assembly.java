package io.throttlekit.service.config.load;

import io.throttlekit.service.config.HttpConfig.MetricsConfig;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.StoreAccess.ClientCertificate;
import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreAccess.StoreTls;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreAddress.Postgres;
import io.throttlekit.service.config.StoreAddress.SslMode;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Makes the typed configuration from the values of settings, and reports values that contradict
 * each other or have no effect.
 *
 * <p>Each component of the configuration has the value of the setting whose {@link Setting#field}
 * it is, except for those that depend on several settings.
 */
final class Assembly {
  private final SettingValues values;

  /** Values of components that depend on several settings; null for absent ones. */
  private final Map<String, @Nullable Object> combined = new HashMap<>();

  private Assembly(SettingValues values) {
    this.values = values;
  }

  /** Returns the typed configuration. It is meaningless when there are errors. */
  static ServiceConfig of(SettingValues values) {
    Assembly assembly = new Assembly(values);
    assembly.combine();
    return assembly.record(ServiceConfig.class, "");
  }

  /** Returns whether policies are read where envoyproxy/ratelimit reads them. */
  static boolean standsIn(SettingValues values) {
    return !values.differs("policies.paths") && values.differs("policies.runtime.root");
  }

  /** Returns whether counters are in the memory of this process. */
  static boolean inMemory(SettingValues values) {
    return ((StoreUri) values.get("store.uri")).address().inMemory();
  }

  private void combine() {
    warnOfPort();
    warnOfStoreHealth();
    combinePolicies();
    combineListeners();
    StoreUri store = (StoreUri) values.get("store.uri");
    combined.put("store.address", store.address());
    combined.put("store.access", access("store", store));
    combineFederation();
    combineExtAuthz();
    for (Setting setting : Settings.ALL) {
      String needed = setting.attribute("needs");
      if (!needed.isEmpty()) {
        values.needs(setting.path(), needed);
      }
    }
  }

  private void combinePolicies() {
    if (values.differs("policies.runtime.root")) {
      return;
    }
    combined.put("policies.runtime", null);
    if (!values.differs("policies.paths") && !values.malformed("policies.paths")) {
      values.error(
          Origin.option("--policies"),
          "no policies: give --policies PATH, policies.paths in the configuration file, or the"
              + " variable RUNTIME_ROOT");
    }
  }

  private void combineListeners() {
    String clientSan = values.text("grpc.tls.client_san");
    combined.put("grpc.tls.clientSan", clientSan.isEmpty() ? null : clientSan);
    combined.put("sensors.tls.clientSan", null);
    for (String section : List.of("grpc.tls", "sensors.tls")) {
      if (!isSet(section + ".certificate") || !isSet(section + ".key")) {
        combined.put(section, null);
      }
    }
    // The HTTP listener does not check client certificates.
    if (values.flag("http.json") && isSet("grpc.tls.client_ca")) {
      values.warnOfNoEffect(
          "http.json",
          "/json does not check client certificates, which gRPC requires (grpc.tls.client_ca)");
      combined.put("http.json", false);
    }
    String listen = values.text("sensors.listen");
    combined.put("sensors.host", Form.hostOf(listen));
    combined.put("sensors.port", Form.portOf(listen));
    String metrics = values.text("metrics.address");
    combined.put(
        "metrics",
        metrics.isEmpty() || !values.flag("telemetry.prometheus")
            ? null
            : new MetricsConfig(
                Form.hostOf(metrics), Form.portOf(metrics), values.text("metrics.path")));
  }

  private void combineFederation() {
    String region = "federation.region";
    String coordinator = "federation.coordinator";
    StoreUri uri = values.get(coordinator) instanceof StoreUri given ? given : null;
    StoreAccess access = access("federation", uri == null ? StoreUri.memory() : uri);
    if (uri != null && isSet(region)) {
      combined.put(coordinator, uri.address());
      combined.put("federation.access", access);
      return;
    }
    combined.put("federation", null);
    if (uri != null && !values.malformed(region)) {
      values.error(
          values.origin(coordinator),
          "a coordinator needs the name of the region: --region or federation.region");
    } else if (isSet(region) && !values.malformed(coordinator)) {
      values.error(
          values.origin(region),
          "a region needs a coordinator to share limits with others: --coordinator or"
              + " federation.coordinator");
    }
  }

  private void combineExtAuthz() {
    String descriptors = "ext_authz.descriptors";
    if (values.differs(descriptors)) {
      boolean allows = values.text("ext_authz.undescribed").equals("allow");
      combined.put(
          "extAuthz.admitsUndescribed", allows || values.flag("compatibility.shadow_mode"));
    } else {
      values.warnIfSet("ext_authz.domain", "there are no " + descriptors);
      values.warnIfSet("ext_authz.undescribed", "there are no " + descriptors);
      combined.put("extAuthz", null);
    }
  }

  /** Returns the access to a store; counters in the memory of this process need none. */
  private StoreAccess access(String section, StoreUri uri) {
    StoreAddress address = uri.address();
    boolean postgres = address instanceof Postgres;
    if (!postgres) { // where a user may authenticate without a password
      values.needs(section + ".user", section + ".password");
    }
    if (address.inMemory()) {
      return StoreAccess.open();
    }
    Login login = login(section + ".user", section + ".password");
    return new StoreAccess(
        postgres ? merged(login, uri.login()) : login.password().isEmpty() ? uri.login() : login,
        login(section + ".sentinel_user", section + ".sentinel_password"),
        tls(section + ".tls", address));
  }

  private Login login(String user, String password) {
    return new Login(values.text(user), values.text(password));
  }

  /**
   * Merges user and password one by one: in PostgreSQL a user has a name without a password too.
   */
  private static Login merged(Login configured, Login ofUri) {
    return new Login(
        configured.user().isEmpty() ? ofUri.user() : configured.user(),
        configured.password().isEmpty() ? ofUri.password() : configured.password());
  }

  private @Nullable StoreTls tls(String section, StoreAddress address) {
    if (!address.usesTls()) {
      for (String setting : List.of(".ca", ".certificate", ".key", ".verify_host")) {
        values.warnIfSet(section + setting, address + " does not use TLS");
      }
      return null;
    }
    boolean verifyHost = values.flag(section + ".verify_host");
    if (address instanceof Postgres postgres) {
      values.warnIfSet(section + ".verify_host", "sslmode=" + postgres.sslMode() + " decides");
      verifyHost = postgres.sslMode() == SslMode.VERIFY_FULL;
    }
    Path certificate = path(values.text(section + ".certificate"));
    Path key = path(values.text(section + ".key"));
    return new StoreTls(
        path(values.text(section + ".ca")),
        certificate == null || key == null ? null : new ClientCertificate(certificate, key),
        verifyHost);
  }

  /** Warns of a port that a Unix socket replaces. */
  private void warnOfPort() {
    String port = "grpc.port";
    String socket = "grpc.unix_socket";
    boolean set =
        values.origin(port).source() == Origin.Source.COMMAND_LINE || values.differs(port);
    if (set && values.differs(socket)) {
      values.warnOfNoEffect(
          port,
          "gRPC is on the Unix socket %s, %s"
              .formatted(values.print(socket), values.origin(socket)));
    }
  }

  /** Warns of a health that depends on a store which is always reachable. */
  private void warnOfStoreHealth() {
    String health = "health.store_must_be_reachable";
    // envoyproxy/ratelimit's variable has a warning of its own.
    Origin peer = Origin.variable("REDIS_HEALTH_CHECK_ACTIVE_CONNECTION");
    if (inMemory(values) && values.flag(health) && !values.origin(health).equals(peer)) {
      values.warnOfNoEffect(health, "counters are in memory, which is always reachable");
    }
  }

  private boolean isSet(String path) {
    return !values.text(path).isEmpty();
  }

  private static @Nullable Path path(String text) {
    return text.isEmpty() ? null : Path.of(text);
  }

  /** Returns the record at a path of components. */
  private <R extends Record> R record(Class<R> type, String path) {
    RecordComponent[] components = type.getRecordComponents();
    Class<?>[] types = new Class<?>[components.length];
    @Nullable Object[] arguments = new @Nullable Object[components.length];
    for (int i = 0; i < components.length; i++) {
      types[i] = components[i].getType();
      String name = components[i].getName();
      arguments[i] = component(types[i], path.isEmpty() ? name : path + "." + name);
    }
    try {
      return type.getDeclaredConstructor(types).newInstance(arguments);
    } catch (ReflectiveOperationException e) { // a bug: the settings do not fit the record
      throw new IllegalStateException("cannot make " + type, e);
    }
  }

  private @Nullable Object component(Class<?> type, String path) {
    if (combined.containsKey(path)) {
      return combined.get(path);
    }
    if (type.isRecord()) {
      return record(type.asSubclass(Record.class), path);
    }
    Object value = values.get(Settings.ofField(path).path());
    return switch (value) {
      case String text when type == Path.class -> path(text);
      case Long number when type == int.class -> Math.toIntExact(number);
      default -> value;
    };
  }
}
