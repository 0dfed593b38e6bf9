package io.throttlekit.service.config;

import java.util.List;

/**
 * Settings of a section for access to a store outside of the process.
 *
 * @param user user name of this process
 * @param password replaces the URI's password
 * @param sentinelUser user name for Sentinels
 * @param sentinelPassword password for Sentinels
 * @param tlsCa PEM certificates that must have signed the server's
 * @param tlsCertificate PEM certificate chain of this process
 * @param tlsKey PEM private key of the certificate
 * @param tlsVerifyHost whether the server's certificate must contain its host name
 */
record AccessSettings(
    Setting<String> user,
    Setting<String> password,
    Setting<String> sentinelUser,
    Setting<String> sentinelPassword,
    Setting<String> tlsCa,
    Setting<String> tlsCertificate,
    Setting<String> tlsKey,
    Setting<Boolean> tlsVerifyHost) {

  /** Returns the settings of a section of the file. */
  static AccessSettings of(String section) {
    return new AccessSettings(
        new Setting<>(section + ".user", Forms.headerValue(), ""),
        new Setting<>(section + ".password", Forms.secret(), ""),
        new Setting<>(section + ".sentinel_user", Forms.headerValue(), ""),
        new Setting<>(section + ".sentinel_password", Forms.secret(), ""),
        new Setting<>(section + ".tls.ca", Forms.optionalPath(), ""),
        new Setting<>(section + ".tls.certificate", Forms.optionalPath(), ""),
        new Setting<>(section + ".tls.key", Forms.optionalPath(), ""),
        new Setting<>(section + ".tls.verify_host", Forms.flag(), true));
  }

  /** Returns all settings, in the order in which they are printed. */
  List<Setting<?>> all() {
    return List.of(
        user,
        password,
        sentinelUser,
        sentinelPassword,
        tlsCa,
        tlsCertificate,
        tlsKey,
        tlsVerifyHost);
  }

  /** Returns the settings for TLS. */
  List<Setting<?>> tls() {
    return List.of(tlsCa, tlsCertificate, tlsKey, tlsVerifyHost);
  }
}
