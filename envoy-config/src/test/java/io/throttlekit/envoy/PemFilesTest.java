package io.throttlekit.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.AlgorithmParameters;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.PrivateKey;
import java.security.interfaces.ECPrivateKey;
import java.security.spec.ECGenParameterSpec;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PemFilesTest {
  private static final Path FILE = Path.of("tls.key");
  private static final int PKCS8_HEADER = 26; // of a key of RSA with 2048 bits

  @Test
  void readsKeysOfRsaInPkcs8AndPkcs1() throws IOException, GeneralSecurityException {
    PrivateKey key = rsa();
    byte[] pkcs1 = Arrays.copyOfRange(key.getEncoded(), PKCS8_HEADER, key.getEncoded().length);
    assertThat(read(pem("PRIVATE KEY", key.getEncoded()))).isEqualTo(key);
    assertThat(read(pem("RSA PRIVATE KEY", pkcs1))).isEqualTo(key);
  }

  @ParameterizedTest
  @ValueSource(strings = {"secp256r1", "secp384r1", "secp521r1"})
  void readsKeysOfEllipticCurvesInSec1(String curve) throws IOException, GeneralSecurityException {
    KeyPair pair = ec(curve);
    String parameters = pem("EC PARAMETERS", curveOf(pair)); // as OpenSSL writes before the key
    PrivateKey key = read(parameters + pem("EC PRIVATE KEY", sec1(pair)));
    PemFiles.checkPair(FILE, pair.getPublic(), FILE, key);
    assertThatThrownBy(() -> PemFiles.checkPair(FILE, ec(curve).getPublic(), FILE, key))
        .hasMessageContaining("is not that of the certificate");
  }

  @Test
  void aDamagedKeyIsNeverAnythingButAnIoException() throws GeneralSecurityException {
    SplittableRandom random = new SplittableRandom(7);
    byte[] sound = sec1(ec("secp256r1"));
    for (int i = 0; i < 2_000; i++) {
      byte[] key = Arrays.copyOf(sound, random.nextInt(sound.length + 1));
      if (key.length > 0) {
        key[random.nextInt(Math.min(key.length, 8))] = (byte) random.nextInt();
      }
      String text = pem("EC PRIVATE KEY", key);
      try {
        read(text);
      } catch (IOException e) {
        assertThat(e).hasMessageContaining("the private key in tls.key is damaged");
      }
    }
  }

  @Test
  void aKeyThatIsCutOffOrEncryptedIsReported() {
    assertThatThrownBy(() -> read("-----BEGIN RSA PRIVATE KEY-----\nMIIE"))
        .hasMessageContaining("tls.key is damaged");
    for (String encrypted :
        List.of(
            "-----BEGIN ENCRYPTED PRIVATE KEY-----",
            "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n")) {
      assertThatThrownBy(() -> read(encrypted)).hasMessageContaining("encrypted private key");
    }
  }

  private static PrivateKey read(String text) throws IOException {
    return PemFiles.privateKey(FILE, text.getBytes(StandardCharsets.US_ASCII));
  }

  private static PrivateKey rsa() throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("RSA");
    generator.initialize(2048);
    return generator.generateKeyPair().getPrivate();
  }

  private static KeyPair ec(String curve) throws GeneralSecurityException {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    generator.initialize(new ECGenParameterSpec(curve));
    return generator.generateKeyPair();
  }

  private static byte[] curveOf(KeyPair pair) {
    try {
      AlgorithmParameters parameters = AlgorithmParameters.getInstance("EC");
      parameters.init(((ECPrivateKey) pair.getPrivate()).getParams());
      return parameters.getEncoded();
    } catch (GeneralSecurityException | IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns version, number and curve, as RFC 5915 has them. All lengths are below 128. */
  private static byte[] sec1(KeyPair pair) {
    ECPrivateKey key = (ECPrivateKey) pair.getPrivate();
    byte[] number = unsigned(key.getS(), (key.getParams().getOrder().bitLength() + 7) / 8);
    byte[] curve = curveOf(pair);
    return ByteBuffer.allocate(9 + number.length + curve.length)
        .put((byte) 0x30)
        .put((byte) (7 + number.length + curve.length))
        .put(new byte[] {2, 1, 1, 4, (byte) number.length})
        .put(number)
        .put(new byte[] {(byte) 0xA0, (byte) curve.length})
        .put(curve)
        .array();
  }

  private static byte[] unsigned(BigInteger number, int length) {
    byte[] signed = number.toByteArray();
    byte[] bytes = new byte[length];
    int count = Math.min(length, signed.length);
    System.arraycopy(signed, signed.length - count, bytes, length - count, count);
    return bytes;
  }

  private static String pem(String label, byte[] content) {
    String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(content);
    return "-----BEGIN " + label + "-----\n" + text + "\n-----END " + label + "-----\n";
  }
}
