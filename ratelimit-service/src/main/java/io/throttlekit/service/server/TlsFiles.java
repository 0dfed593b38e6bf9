package io.throttlekit.service.server;

import io.grpc.util.CertificateUtils;
import io.throttlekit.service.config.TlsConfig;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.InvalidKeyException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.X509Certificate;
import java.util.Arrays;

/** What the TLS files held at one time, checked to fit together. Immutable. */
final class TlsFiles {
  private static final X509Certificate[] NONE = {};

  private final byte[][] contents;
  private final X509Certificate[] chain;
  private final PrivateKey key;
  private final X509Certificate[] clientAuthorities;

  private TlsFiles(byte[] chain, byte[] key, byte[] clientAuthorities)
      throws IOException, GeneralSecurityException {
    this.contents = new byte[][] {chain, key, clientAuthorities};
    this.chain = certificates(chain);
    this.key = CertificateUtils.getPrivateKey(new ByteArrayInputStream(key));
    this.clientAuthorities = clientAuthorities.length == 0 ? NONE : certificates(clientAuthorities);
    checkPair(this.chain[0].getPublicKey(), this.key);
  }

  static TlsFiles read(TlsConfig config) throws IOException, GeneralSecurityException {
    Path clientCa = config.clientCa();
    return new TlsFiles(
        Files.readAllBytes(config.certificate()),
        Files.readAllBytes(config.key()),
        clientCa == null ? new byte[0] : Files.readAllBytes(clientCa));
  }

  X509Certificate[] chain() {
    return chain;
  }

  PrivateKey key() {
    return key;
  }

  X509Certificate[] clientAuthorities() {
    return clientAuthorities;
  }

  boolean sameAs(TlsFiles other) {
    return Arrays.deepEquals(contents, other.contents);
  }

  private static X509Certificate[] certificates(byte[] pem) throws CertificateException {
    X509Certificate[] certificates =
        CertificateUtils.getX509Certificates(new ByteArrayInputStream(pem));
    if (certificates.length == 0) {
      throw new CertificateException("no certificate in the file");
    }
    return certificates;
  }

  /** Files are replaced one after the other, so a new key may meet the old certificate. */
  private static void checkPair(PublicKey publicKey, PrivateKey privateKey)
      throws GeneralSecurityException {
    if (!publicKey.getAlgorithm().equals(privateKey.getAlgorithm())) {
      throw new InvalidKeyException("the key is not that of the certificate");
    }
    String algorithm =
        switch (privateKey.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> privateKey.getAlgorithm();
        };
    byte[] probe = {1, 2, 3};
    Signature signature = Signature.getInstance(algorithm);
    signature.initSign(privateKey);
    signature.update(probe);
    byte[] signed = signature.sign();
    signature.initVerify(publicKey);
    signature.update(probe);
    if (!signature.verify(signed)) {
      throw new InvalidKeyException("the key is not that of the certificate");
    }
  }
}
