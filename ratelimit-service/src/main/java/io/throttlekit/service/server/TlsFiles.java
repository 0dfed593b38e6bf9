package io.throttlekit.service.server;

import io.grpc.util.CertificateUtils;
import io.throttlekit.service.config.TlsConfig;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
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
    checkPresent(Stream.of(config.certificate(), config.key(), clientCa).filter(Objects::nonNull));
    byte[] chainText = bytes(config.certificate());
    byte[] keyText = bytes(config.key());
    byte[] authoritiesText = clientCa == null ? new byte[0] : bytes(clientCa);
    X509Certificate[] chain = certificates(config.certificate(), chainText);
    PrivateKey key = privateKey(config.key(), keyText);
    X509Certificate[] authorities =
        clientCa == null ? NONE : certificates(clientCa, authoritiesText);
    if (!arePair(chain[0].getPublicKey(), key)) {
      throw new IOException(
          "the key in %s is not that of the certificate in %s"
              .formatted(config.key(), config.certificate()));
    }
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

  /** Reports all missing files at once, for an operator who mounted the wrong folder. */
  private static void checkPresent(Stream<Path> files) throws IOException {
    List<Path> missing = files.filter(Files::notExists).toList();
    if (missing.size() > 1) { // one alone is reported when it is read
      String names = missing.stream().map(Path::toString).collect(Collectors.joining(", "));
      throw new IOException("there are no files " + names);
    }
  }

  private static byte[] bytes(Path file) throws IOException {
    try {
      return Files.readAllBytes(file);
    } catch (NoSuchFileException e) {
      throw new IOException("there is no file " + file, e);
    } catch (AccessDeniedException e) {
      throw new IOException(file + " may not be read by this user", e);
    } catch (IOException e) {
      String why = Files.isDirectory(file) ? "it is a folder" : e.getMessage();
      throw new IOException(file + " cannot be read: " + why, e);
    }
  }

  private static X509Certificate[] certificates(Path file, byte[] pem) throws IOException {
    if (!holds(pem, "CERTIFICATE")) {
      throw new IOException(file + " holds no certificate: it has no -----BEGIN CERTIFICATE-----");
    }
    try {
      return CertificateUtils.getX509Certificates(new ByteArrayInputStream(pem));
    } catch (CertificateException e) {
      throw new IOException("a certificate in " + file + " is damaged", e);
    }
  }

  private static PrivateKey privateKey(Path file, byte[] pem) throws IOException {
    if (!holds(pem, "PRIVATE KEY")) {
      throw new IOException(file + whyNoKey(pem));
    }
    try {
      return CertificateUtils.getPrivateKey(new ByteArrayInputStream(pem));
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw new IOException("the private key in " + file + " is damaged, or of an unknown kind", e);
    }
  }

  private static String whyNoKey(byte[] pem) {
    if (holds(pem, "ENCRYPTED PRIVATE KEY")) {
      return " holds an encrypted private key: encrypted keys are not supported";
    }
    return holds(pem, "RSA PRIVATE KEY") || holds(pem, "EC PRIVATE KEY")
        ? " holds a private key in an older form: openssl pkcs8 -topk8 -nocrypt makes it PKCS #8"
        : " holds no private key: it has no -----BEGIN PRIVATE KEY-----";
  }

  private static boolean holds(byte[] pem, String what) {
    return new String(pem, StandardCharsets.ISO_8859_1).contains("-----BEGIN " + what + "-----");
  }

  /**
   * Returns whether the keys are a pair. Files are replaced one after the other, so a new key may
   * be read with the old certificate.
   */
  private static boolean arePair(PublicKey publicKey, PrivateKey privateKey) {
    if (!publicKey.getAlgorithm().equals(privateKey.getAlgorithm())) {
      return false;
    }
    String algorithm =
        switch (privateKey.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> privateKey.getAlgorithm();
        };
    byte[] probe = {1, 2, 3};
    try {
      Signature signature = Signature.getInstance(algorithm);
      signature.initSign(privateKey);
      signature.update(probe);
      byte[] signed = signature.sign();
      signature.initVerify(publicKey);
      signature.update(probe);
      return signature.verify(signed);
    } catch (GeneralSecurityException e) { // such as curves that differ
      return false;
    }
  }
}
