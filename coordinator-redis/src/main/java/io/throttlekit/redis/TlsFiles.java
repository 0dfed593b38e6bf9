package io.throttlekit.redis;

import io.lettuce.core.SslOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;

/** The certificates that TLS is held to, as Lettuce takes them. */
final class TlsFiles {
  private TlsFiles() {}

  /**
   * Options that read the files again for each connection.
   *
   * @throws IllegalArgumentException when one is not there, or not what it should be, now
   */
  static SslOptions options(RedisAccess.Tls tls) {
    SslOptions.Builder builder = SslOptions.builder().jdkSslProvider();
    try {
      Path ca = tls.ca();
      if (ca != null) {
        builder.trustManager(ca.toFile());
      }
      Path certificate = tls.certificate();
      Path key = tls.key();
      if (certificate != null && key != null) {
        builder.keyManager(certificate.toFile(), key.toFile(), new char[0]);
      }
      SslOptions options = builder.build();
      var _ = options.createSslContextBuilder();
      return options;
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "no TLS with %s: %s".formatted(tls, Failures.inWords(e)), e);
    }
  }
}
