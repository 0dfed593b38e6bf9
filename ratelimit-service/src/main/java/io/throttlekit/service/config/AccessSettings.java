package io.throttlekit.service.config;

import java.util.List;

/**
 * The fields of a section that say how what is outside the process is entered.
 *
 * @param user who this process says it is
 * @param password takes the place of what the URI says
 * @param sentinelUser the same for Sentinels
 * @param sentinelPassword the same for Sentinels
 * @param tlsCa PEM certificates that must have signed the other side's
 * @param tlsCertificate PEM chain of this process
 * @param tlsKey PEM private key of the certificate
 * @param tlsVerifyHost whether the other side's certificate has to carry its host name
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

  /** The fields of a section of the file. */
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

  /** In the order in which they are printed. */
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

  /** Those that say how TLS is spoken. */
  List<Setting<?>> tls() {
    return List.of(tlsCa, tlsCertificate, tlsKey, tlsVerifyHost);
  }
}
