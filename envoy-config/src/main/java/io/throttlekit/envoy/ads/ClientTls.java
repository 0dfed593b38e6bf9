package io.throttlekit.envoy.ads;

import io.grpc.netty.GrpcSslContexts;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.throttlekit.envoy.PemFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.security.KeyStore;
import java.security.cert.X509Certificate;
import java.util.Objects;
import java.util.stream.Stream;
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

  /**
   * Reads the files.
   *
   * @throws IOException when they are missing, unreadable or do not fit together
   */
  SslContext context() throws IOException {
    PemFiles.checkPresent(
        Stream.of(certificate, key, authorities).filter(Objects::nonNull).toList());
    SslContextBuilder builder = GrpcSslContexts.forClient();
    if (authorities != null) {
      builder.trustManager(PemFiles.certificates(authorities, PemFiles.bytes(authorities)));
    }
    if (certificate != null && key != null) {
      KeyStore.PrivateKeyEntry own = PemFiles.identity(certificate, key);
      builder.keyManager(own.getPrivateKey(), (X509Certificate[]) own.getCertificateChain());
    }
    return builder.build();
  }
}
