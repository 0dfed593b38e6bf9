package io.throttlekit.service.config.load;

import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.StoreAccess.ClientCertificate;
import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreAccess.StoreTls;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreAddress.Postgres;
import io.throttlekit.service.config.StoreAddress.SslMode;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Settings of a section for credentials and TLS of a store outside of the process. */
final class AccessSettings extends Section {
  final Setting<String> user;
  final Setting<String> password;
  final Setting<String> sentinelUser;
  final Setting<String> sentinelPassword;
  final Setting<String> tlsCa;
  final Setting<String> tlsCertificate;
  final Setting<String> tlsKey;
  final Setting<Boolean> tlsVerifyHost;

  /** Creates the settings of a section of the file. */
  AccessSettings(String section) {
    user = setting(section + ".user", Forms.headerValue(), "");
    password = setting(section + ".password", Forms.secret(), "");
    sentinelUser = setting(section + ".sentinel_user", Forms.headerValue(), "");
    sentinelPassword = setting(section + ".sentinel_password", Forms.secret(), "");
    tlsCa = file(section + ".tls.ca");
    tlsCertificate = file(section + ".tls.certificate");
    tlsKey = file(section + ".tls.key");
    tlsVerifyHost = flag(section + ".tls.verify_host", true);
  }

  /** Returns the access to the store; counters in the memory of this process need none. */
  StoreAccess assemble(SettingValues values, StoreUri uri) {
    StoreAddress address = uri.address();
    boolean postgres = address instanceof Postgres;
    if (!postgres) {
      values.needs(user, password);
    }
    values.needs(sentinelUser, sentinelPassword);
    values.needs(tlsCertificate, tlsKey);
    values.needs(tlsKey, tlsCertificate);
    if (address.inMemory()) {
      return StoreAccess.open();
    }
    Login store = new Login(values.get(user), values.get(password));
    return new StoreAccess(
        postgres ? merged(store, uri.login()) : store.password().isEmpty() ? uri.login() : store,
        new Login(values.get(sentinelUser), values.get(sentinelPassword)),
        tls(values, address));
  }

  /**
   * Merges user and password one by one: in PostgreSQL a user has a name without a password too.
   */
  private static Login merged(Login configured, Login ofUri) {
    return new Login(
        configured.user().isEmpty() ? ofUri.user() : configured.user(),
        configured.password().isEmpty() ? ofUri.password() : configured.password());
  }

  private @Nullable StoreTls tls(SettingValues values, StoreAddress address) {
    if (!address.usesTls()) {
      for (Setting<?> setting : new Setting<?>[] {tlsCa, tlsCertificate, tlsKey, tlsVerifyHost}) {
        values.warnIfSet(setting, address + " does not use TLS");
      }
      return null;
    }
    boolean verifyHost = values.get(tlsVerifyHost);
    if (address instanceof Postgres postgres) {
      values.warnIfSet(tlsVerifyHost, "sslmode=" + postgres.sslMode() + " decides");
      verifyHost = postgres.sslMode() == SslMode.VERIFY_FULL;
    }
    Path certificate = values.path(tlsCertificate);
    Path key = values.path(tlsKey);
    return new StoreTls(
        values.path(tlsCa),
        certificate == null || key == null ? null : new ClientCertificate(certificate, key),
        verifyHost);
  }
}
