package io.throttlekit.service.config;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Makes the configuration of the store of single values, and checks what only several tell. */
final class StoreAssembly {

  private final SettingValues values;
  private final StoreUri uri;

  StoreAssembly(SettingValues values) {
    this.values = values;
    this.uri = values.get(StoreSettings.URI);
  }

  StoreConfig assemble() {
    needs(StoreSettings.USER, StoreSettings.PASSWORD);
    needs(StoreSettings.SENTINEL_USER, StoreSettings.SENTINEL_PASSWORD);
    needs(StoreSettings.TLS_CERTIFICATE, StoreSettings.TLS_KEY);
    needs(StoreSettings.TLS_KEY, StoreSettings.TLS_CERTIFICATE);
    return new StoreConfig(
        uri.address(),
        uri.address().inMemory()
            ? StoreAccess.open()
            : new StoreAccess(
                login(StoreSettings.USER, StoreSettings.PASSWORD, uri.login()),
                login(StoreSettings.SENTINEL_USER, StoreSettings.SENTINEL_PASSWORD, Login.none()),
                tls()),
        values.get(StoreSettings.KEY_PREFIX),
        values.get(StoreSettings.MAX_COUNTERS),
        new StoreConfig.Deadlines(
            values.get(StoreSettings.DEADLINE),
            values.get(StoreSettings.DECISION_DEADLINE),
            values.get(StoreSettings.LEASE_DEADLINE),
            values.get(StoreSettings.CONNECT_TIMEOUT)),
        new StoreConfig.Breaker(
            values.get(StoreSettings.BREAKER_FAILURES),
            values.get(StoreSettings.BREAKER_PROBE_AFTER)),
        values.get(StoreSettings.MAX_LEASE_CELLS),
        values.get(StoreSettings.LOCAL_SHARE),
        values.get(StoreSettings.CACHED_DENY_DEFAULT));
  }

  /** A password of its own takes the place of what the URI says. */
  private Login login(Setting<String> user, Setting<String> password, Login otherwise) {
    return values.get(password).isEmpty()
        ? otherwise
        : new Login(values.get(user), values.get(password));
  }

  private StoreAccess.@Nullable StoreTls tls() {
    if (!uri.address().speaksTls()) {
      warnOfTls();
      return null;
    }
    Path certificate = path(StoreSettings.TLS_CERTIFICATE);
    Path key = path(StoreSettings.TLS_KEY);
    return new StoreAccess.StoreTls(
        path(StoreSettings.TLS_CA),
        certificate == null || key == null
            ? null
            : new StoreAccess.ClientCertificate(certificate, key),
        values.get(StoreSettings.TLS_VERIFY_HOST));
  }

  private void warnOfTls() {
    for (Setting<?> setting :
        new Setting<?>[] {
          StoreSettings.TLS_CA,
          StoreSettings.TLS_CERTIFICATE,
          StoreSettings.TLS_KEY,
          StoreSettings.TLS_VERIFY_HOST
        }) {
      if (!values.get(setting).equals(setting.fallback())) {
        values.warn(
            "%s (%s) has no effect: %s speaks no TLS"
                .formatted(setting, values.origin(setting), uri.address()));
      }
    }
  }

  private void needs(Setting<String> what, Setting<String> other) {
    if (!values.get(what).isEmpty() && values.get(other).isEmpty()) {
      values.error(values.origin(what), what + " needs " + other);
    }
  }

  private @Nullable Path path(Setting<String> setting) {
    String text = values.get(setting);
    return text.isEmpty() ? null : Path.of(text);
  }
}
