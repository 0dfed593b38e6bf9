package io.throttlekit.service.server;

import io.throttlekit.envoy.PemFiles;
import io.throttlekit.service.config.TlsConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;

/**
 * A consistent snapshot of the TLS files. Its arrays are not changed.
 *
 * @param contents the bytes of each file
 * @param clientAuthorities empty where no client certificates are required
 */
@SuppressWarnings("ArrayRecordComponent") // compared by sameAs only
record TlsFiles(
    byte[][] contents,
    X509Certificate[] chain,
    PrivateKey key,
    X509Certificate[] clientAuthorities) {
  private static final X509Certificate[] NONE = {};

  /**
   * Reads the files and checks that they fit together.
   *
   * @throws IOException whose message names the faulty file and the reason
   */
  static TlsFiles read(TlsConfig config) throws IOException {
    Path clientCa = config.clientCa();
    PemFiles.checkPresent(
        Stream.of(config.certificate(), config.key(), clientCa).filter(Objects::nonNull).toList());
    byte[] chainText = PemFiles.bytes(config.certificate());
    byte[] keyText = PemFiles.bytes(config.key());
    byte[] authoritiesText = clientCa == null ? new byte[0] : PemFiles.bytes(clientCa);
    X509Certificate[] chain = PemFiles.certificates(config.certificate(), chainText);
    PrivateKey key = PemFiles.privateKey(config.key(), keyText);
    X509Certificate[] authorities =
        clientCa == null ? NONE : PemFiles.certificates(clientCa, authoritiesText);
    PemFiles.checkPair(config.certificate(), chain[0].getPublicKey(), config.key(), key);
    return new TlsFiles(
        new byte[][] {chainText, keyText, authoritiesText}, chain, key, authorities);
  }

  /** Returns whether a client that presents this chain is trusted by these files. */
  boolean trusts(X509Certificate[] chain) {
    try {
      KeyStore authorities = KeyStore.getInstance(KeyStore.getDefaultType());
      authorities.load(null, null);
      for (int i = 0; i < clientAuthorities.length; i++) {
        authorities.setCertificateEntry(Integer.toString(i), clientAuthorities[i]);
      }
      TrustManagerFactory factory =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      factory.init(authorities);
      String algorithm = chain[0].getPublicKey().getAlgorithm();
      for (TrustManager manager : factory.getTrustManagers()) {
        if (manager instanceof X509TrustManager x509) {
          x509.checkClientTrusted(chain, algorithm);
        }
      }
      return true;
    } catch (GeneralSecurityException | IOException e) {
      return false;
    }
  }

  boolean sameAs(TlsFiles other) {
    return Arrays.deepEquals(contents, other.contents);
  }
}
