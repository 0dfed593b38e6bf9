package io.throttlekit.service.config;

import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Assembles credentials and TLS for a store or coordinator from single values. */
final class AccessAssembly {

  private final SettingValues values;
  private final AccessSettings settings;
  private final StoreUri uri;

  AccessAssembly(SettingValues values, AccessSettings settings, StoreUri uri) {
    this.values = values;
    this.settings = settings;
    this.uri = uri;
  }

  /** Returns the access to the store; counters in the memory of this process need none. */
  StoreAccess assemble() {
    boolean postgres = uri.address() instanceof StoreAddress.Postgres;
    if (!postgres) {
      values.needs(settings.user(), settings.password());
    }
    values.needs(settings.sentinelUser(), settings.sentinelPassword());
    values.needs(settings.tlsCertificate(), settings.tlsKey());
    values.needs(settings.tlsKey(), settings.tlsCertificate());
    if (uri.address().inMemory()) {
      return StoreAccess.open();
    }
    return new StoreAccess(
        postgres ? mixed() : login(settings.user(), settings.password(), uri.login()),
        login(settings.sentinelUser(), settings.sentinelPassword(), Login.none()),
        tls());
  }

  /** Returns the configured login; a configured password replaces the URI's login. */
  private Login login(Setting<String> user, Setting<String> password, Login otherwise) {
    return values.get(password).isEmpty()
        ? otherwise
        : new Login(values.get(user), values.get(password));
  }

  /**
   * Merges user and password one by one: in PostgreSQL a user has a name without a password too.
   */
  private Login mixed() {
    String user = values.get(settings.user());
    String password = values.get(settings.password());
    return new Login(
        user.isEmpty() ? uri.login().user() : user,
        password.isEmpty() ? uri.login().password() : password);
  }

  private StoreAccess.@Nullable StoreTls tls() {
    if (!uri.address().speaksTls()) {
      warn(settings.tls(), uri.address() + " speaks no TLS");
      return null;
    }
    if (uri.address() instanceof StoreAddress.Postgres postgres) {
      warn(List.of(settings.tlsVerifyHost()), "sslmode says it, " + postgres.sslMode());
    }
    Path certificate = path(settings.tlsCertificate());
    Path key = path(settings.tlsKey());
    return new StoreAccess.StoreTls(
        path(settings.tlsCa()),
        certificate == null || key == null
            ? null
            : new StoreAccess.ClientCertificate(certificate, key),
        verifiesHost());
  }

  private boolean verifiesHost() {
    return uri.address() instanceof StoreAddress.Postgres postgres
        ? postgres.sslMode() == StoreAddress.SslMode.VERIFY_FULL
        : values.get(settings.tlsVerifyHost());
  }

  private void warn(List<Setting<?>> ineffective, String reason) {
    for (Setting<?> setting : ineffective) {
      if (!values.get(setting).equals(setting.fallback())) {
        values.warn("%s (%s) has no effect: %s".formatted(setting, values.origin(setting), reason));
      }
    }
  }

  private @Nullable Path path(Setting<String> setting) {
    String text = values.get(setting);
    return text.isEmpty() ? null : Path.of(text);
  }
}
