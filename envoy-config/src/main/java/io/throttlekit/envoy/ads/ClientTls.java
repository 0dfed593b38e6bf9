package io.throttlekit.envoy.ads;

import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * TLS of a client. The files are read for each connection, so that certificates may be rotated.
 *
 * @param certificate PEM chain of the client; absent when it presents none, and then the key is too
 * @param key PEM private key of the certificate
 * @param authorities PEM certificates of which one must have signed the server's; absent for those
 *     that the JDK trusts
 * @param serverName name that the server's certificate must contain; absent for the host's
 */
public record ClientTls(
    @Nullable Path certificate,
    @Nullable Path key,
    @Nullable Path authorities,
    @Nullable String serverName) {

  /**
   * @throws IllegalArgumentException when there is a certificate without a key, or the reverse
   */
  public ClientTls {
    if ((certificate == null) != (key == null)) {
      throw new IllegalArgumentException(
          "a client's certificate and its key must be set together, or neither");
    }
  }
}
