package io.throttlekit.service.config.load;

import io.throttlekit.service.config.TlsConfig;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Settings for the certificate of a listener. */
final class ServerTlsSettings extends Section {
  final Setting<String> certificate;
  final Setting<String> key;
  final Setting<String> clientCa;

  /** Creates the settings of a section of the file. */
  ServerTlsSettings(String section) {
    certificate = file(section + ".tls.certificate");
    key = file(section + ".tls.key");
    clientCa = file(section + ".tls.client_ca");
  }

  /**
   * Returns the certificate; null for plaintext.
   *
   * @param clientSan a name that a client's certificate must contain; empty for any
   */
  @Nullable TlsConfig assemble(SettingValues values, String clientSan) {
    values.needs(certificate, key);
    values.needs(key, certificate);
    values.needs(clientCa, certificate);
    Path chain = values.path(certificate);
    Path secret = values.path(key);
    return chain == null || secret == null
        ? null
        : new TlsConfig(
            chain, secret, values.path(clientCa), clientSan.isEmpty() ? null : clientSan);
  }
}
