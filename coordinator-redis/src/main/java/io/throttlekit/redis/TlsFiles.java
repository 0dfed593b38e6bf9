package io.throttlekit.redis;

import io.lettuce.core.SslOptions;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;

/** TLS certificates as options of Lettuce. */
final class TlsFiles {
  private TlsFiles() {}

  /**
   * Creates options that read the files again for each connection.
   *
   * @throws IllegalArgumentException if a file is missing or invalid now
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
      // Reads the files now, so that an error is reported at the start.
      var _ = options.createSslContextBuilder();
      return options;
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "no TLS with %s: %s".formatted(tls, Failures.inWords(e)), e);
    }
  }
}
