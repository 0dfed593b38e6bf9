package io.throttlekit.envoy;

import io.grpc.util.CertificateUtils;
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
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Reads certificates and keys. The message of each {@link IOException} names the faulty file and
 * the reason.
 */
public final class PemFiles {
  private PemFiles() {}

  /**
   * Reports all missing files at once, for an operator who mounted the wrong folder.
   *
   * @throws IOException when more than one is missing; one alone is reported when it is read
   */
  public static void checkPresent(List<Path> files) throws IOException {
    List<Path> missing = files.stream().filter(Files::notExists).toList();
    if (missing.size() > 1) {
      String names = missing.stream().map(Path::toString).collect(Collectors.joining(", "));
      throw new IOException("there are no files " + names);
    }
  }

  /** Reads a certificate chain and its key, and checks that they are a pair. */
  public static KeyStore.PrivateKeyEntry identity(Path certificate, Path key) throws IOException {
    checkPresent(List.of(certificate, key));
    X509Certificate[] chain = certificates(certificate, bytes(certificate));
    PrivateKey itsKey = privateKey(key, bytes(key));
    checkPair(certificate, chain[0].getPublicKey(), key, itsKey);
    return new KeyStore.PrivateKeyEntry(itsKey, chain);
  }

  /** Returns the content of a file. */
  public static byte[] bytes(Path file) throws IOException {
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

  /**
   * Returns the certificates of a file, at least one.
   *
   * @param pem its content
   */
  public static X509Certificate[] certificates(Path file, byte[] pem) throws IOException {
    if (!holds(pem, "CERTIFICATE")) {
      throw new IOException(file + " holds no certificate: it has no -----BEGIN CERTIFICATE-----");
    }
    try {
      return CertificateUtils.getX509Certificates(new ByteArrayInputStream(pem));
    } catch (CertificateException e) {
      throw new IOException("a certificate in " + file + " is damaged", e);
    }
  }

  /**
   * Returns the key of a file: PKCS #8, PKCS #1 of RSA, or SEC 1 of an elliptic curve.
   *
   * @param pem its content
   */
  public static PrivateKey privateKey(Path file, byte[] pem) throws IOException {
    if (holds(pem, "ENCRYPTED PRIVATE KEY") || contains(pem, "Proc-Type: 4,ENCRYPTED")) {
      throw new IOException(
          file + " holds an encrypted private key: encrypted keys are not supported");
    }
    if (!holds(pem, "PRIVATE KEY")
        && !holds(pem, "RSA PRIVATE KEY")
        && !holds(pem, "EC PRIVATE KEY")) {
      throw new IOException(file + " holds no private key: it has no -----BEGIN PRIVATE KEY-----");
    }
    try {
      PrivateKey older = OlderKeys.read(pem);
      return older != null ? older : CertificateUtils.getPrivateKey(new ByteArrayInputStream(pem));
    } catch (IOException | GeneralSecurityException | IllegalArgumentException e) {
      throw new IOException("the private key in " + file + " is damaged, or of an unknown kind", e);
    }
  }

  /** Returns a key in PKCS #8, for libraries that read no other form. */
  public static byte[] pkcs8(PrivateKey key) {
    String text = Base64.getMimeEncoder().encodeToString(key.getEncoded());
    return "-----BEGIN PRIVATE KEY-----\n%s\n-----END PRIVATE KEY-----\n"
        .formatted(text)
        .getBytes(StandardCharsets.US_ASCII);
  }

  /** Returns whether a file holds a key in PKCS #8, which every library reads. */
  public static boolean isPkcs8(byte[] pem) {
    return holds(pem, "PRIVATE KEY");
  }

  /**
   * Checks that a key is that of a certificate. Files are replaced one after the other, so a new
   * key may be read with the old certificate.
   */
  public static void checkPair(Path certificate, PublicKey publicKey, Path key, PrivateKey itsKey)
      throws IOException {
    if (!arePair(publicKey, itsKey)) {
      throw new IOException(
          "the key in %s is not that of the certificate in %s".formatted(key, certificate));
    }
  }

  private static boolean holds(byte[] pem, String what) {
    return contains(pem, "-----BEGIN " + what + "-----");
  }

  private static boolean contains(byte[] pem, String text) {
    return new String(pem, StandardCharsets.ISO_8859_1).contains(text);
  }

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
