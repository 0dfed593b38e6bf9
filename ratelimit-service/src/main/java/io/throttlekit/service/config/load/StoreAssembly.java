package io.throttlekit.service.config.load;

import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.StoreAccess.ClientCertificate;
import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreAccess.StoreTls;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreAddress.Postgres;
import io.throttlekit.service.config.StoreAddress.SslMode;
import io.throttlekit.service.config.StoreConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Makes the configuration of stores from the values of settings, and reports values that contradict
 * each other or have no effect.
 */
final class StoreAssembly {
  private static final String STORE = "store";
  private static final String SECOND = "store.per_second";
  private static final String SECOND_URI = SECOND + ".uri";

  private final SettingValues values;

  private StoreAssembly(SettingValues values) {
    this.values = values;
  }

  /** Returns the configuration of the store. */
  static StoreConfig of(SettingValues values) {
    return new StoreAssembly(values).store();
  }

  /**
   * Returns credentials and TLS of a store; counters in the memory of this process need none.
   *
   * @param section of its settings
   */
  static StoreAccess access(SettingValues values, String section, StoreUri uri) {
    StoreAssembly assembly = new StoreAssembly(values);
    if (!uri.address().inMemory()) {
      assembly.warnOfTls(section, List.of(uri.address()));
    }
    return assembly.access(section, section, uri);
  }

  private StoreConfig store() {
    StoreUri uri = values.uri("store.uri");
    StoreAddress address = uri.address();
    StoreConfig.PerSecond second = second(address);
    if (!address.inMemory()) {
      warnOfTls(STORE, second == null ? List.of(address) : List.of(address, second.address()));
    }
    return new StoreConfig(
        address,
        access(STORE, STORE, uri),
        values.text("store.key_prefix"),
        values.number("store.max_counters"),
        new StoreConfig.Deadlines(
            values.duration("store.deadline"),
            values.duration("store.lease_deadline"),
            values.duration("store.connect_timeout")),
        new StoreConfig.Breaker(
            values.count("store.breaker.failures"),
            values.duration("store.breaker.after"),
            values.duration("store.breaker.probe_after")),
        values.count("store.max_lease_cells"),
        values.ratio("store.local_share"),
        values.flag("store.cached_deny_default"),
        second);
  }

  /** Returns the second Redis; null without one, or after reporting that there can be none. */
  private StoreConfig.@Nullable PerSecond second(StoreAddress main) {
    if (!values.differs(SECOND_URI)) {
      if (!values.malformed(SECOND_URI)) {
        Stream.of(".user", ".password", ".sentinel_user", ".sentinel_password", ".connect_timeout")
            .forEach(name -> values.warnIfSet(SECOND + name, "there is no " + SECOND_URI));
      }
      return null;
    }
    StoreUri uri = values.uri(SECOND_URI);
    if (!isRedis(uri.address())) {
      values.error(values.origin(SECOND_URI), SECOND_URI + " is " + uri + ", which is no Redis");
      return null;
    }
    if (!isRedis(main)) {
      // With counters in memory, a warning names the variables of envoyproxy/ratelimit.
      if (!main.inMemory() || !values.origin(SECOND_URI).equals(PeerStore.SECOND_URL)) {
        values.error(
            values.origin(SECOND_URI),
            "%s needs a Redis in store.uri, which is %s".formatted(SECOND_URI, main));
      }
      return null;
    }
    return new StoreConfig.PerSecond(
        uri.address(), access(SECOND, STORE, uri), values.duration(SECOND + ".connect_timeout"));
  }

  private static boolean isRedis(StoreAddress address) {
    return !address.inMemory() && !(address instanceof Postgres);
  }

  /**
   * Returns credentials and TLS.
   *
   * @param tlsSection the section that contains those of TLS
   */
  private StoreAccess access(String section, String tlsSection, StoreUri uri) {
    StoreAddress address = uri.address();
    boolean postgres = address instanceof Postgres;
    if (!postgres) { // where a user may authenticate without a password
      values.needs(section + ".user", section + ".password");
    }
    if (address.inMemory()) {
      return StoreAccess.open();
    }
    Login login = login(section + ".");
    return new StoreAccess(
        postgres ? merged(login, uri.login()) : login.password().isEmpty() ? uri.login() : login,
        login(section + ".sentinel_"),
        storeTls(tlsSection + ".tls", address));
  }

  private Login login(String prefix) {
    return new Login(values.text(prefix + "user"), values.text(prefix + "password"));
  }

  /**
   * Merges user and password one by one: in PostgreSQL a user has a name without a password too.
   */
  private static Login merged(Login configured, Login ofUri) {
    return new Login(
        configured.user().isEmpty() ? ofUri.user() : configured.user(),
        configured.password().isEmpty() ? ofUri.password() : configured.password());
  }

  /** Warns of settings of TLS that none of these stores uses. */
  private void warnOfTls(String section, List<StoreAddress> addresses) {
    if (addresses.stream().noneMatch(StoreAddress::usesTls)) {
      for (String setting : List.of(".ca", ".certificate", ".key", ".verify_host")) {
        values.warnIfSet(section + ".tls" + setting, addresses.getFirst() + " does not use TLS");
      }
    }
  }

  private @Nullable StoreTls storeTls(String section, StoreAddress address) {
    if (!address.usesTls()) {
      return null;
    }
    boolean verifyHost = values.flag(section + ".verify_host");
    if (address instanceof Postgres postgres) {
      values.warnIfSet(section + ".verify_host", "sslmode=" + postgres.sslMode() + " decides");
      verifyHost = postgres.sslMode() == SslMode.VERIFY_FULL;
    }
    Path certificate = values.path(section + ".certificate");
    Path key = values.path(section + ".key");
    return new StoreTls(
        values.path(section + ".ca"),
        certificate == null || key == null ? null : new ClientCertificate(certificate, key),
        verifyHost);
  }
}
