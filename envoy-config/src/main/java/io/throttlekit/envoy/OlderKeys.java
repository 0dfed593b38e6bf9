package io.throttlekit.envoy;

import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.PrivateKey;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.HexFormat;
import org.jspecify.annotations.Nullable;

/**
 * Private keys of one algorithm without PKCS #8 around them: PKCS #1 for RSA, which Envoy Gateway
 * and cert-manager write by default, and SEC 1 for elliptic curves. Java reads them once they are
 * wrapped into PKCS #8 (RFC 5958).
 */
final class OlderKeys {
  private static final String RSA = "RSA PRIVATE KEY";
  private static final String EC = "EC PRIVATE KEY";

  private static final int INTEGER = 0x02;
  private static final int OCTET_STRING = 0x04;
  private static final int SEQUENCE = 0x30;
  private static final int PARAMETERS = 0xA0;

  private static final byte[] VERSION = HexFormat.of().parseHex("020100");
  private static final byte[] RSA_ENCRYPTION =
      HexFormat.of().parseHex("300d06092a864886f70d0101010500"); // 1.2.840.113549.1.1.1, null
  private static final byte[] EC_PUBLIC_KEY =
      HexFormat.of().parseHex("06072a8648ce3d0201"); // 1.2.840.10045.2.1

  private OlderKeys() {}

  /**
   * Returns the key of a PEM file; null if it has none in these forms.
   *
   * @throws GeneralSecurityException when the key is damaged
   */
  static @Nullable PrivateKey read(byte[] pem) throws GeneralSecurityException {
    String text = new String(pem, StandardCharsets.ISO_8859_1);
    byte[] rsa = block(text, RSA);
    if (rsa != null) {
      return key("RSA", pkcs8(RSA_ENCRYPTION, rsa));
    }
    byte[] ec = block(text, EC);
    if (ec != null) {
      return key("EC", pkcs8(der(SEQUENCE, EC_PUBLIC_KEY, curve(ec)), ec));
    }
    return null;
  }

  private static PrivateKey key(String algorithm, byte[] pkcs8) throws GeneralSecurityException {
    return KeyFactory.getInstance(algorithm).generatePrivate(new PKCS8EncodedKeySpec(pkcs8));
  }

  private static byte @Nullable [] block(String text, String label) throws InvalidKeySpecException {
    String begin = "-----BEGIN " + label + "-----";
    int from = text.indexOf(begin);
    if (from < 0) {
      return null;
    }
    int to = text.indexOf("-----END " + label + "-----", from);
    if (to < 0) {
      throw new InvalidKeySpecException("the end is missing");
    }
    try {
      return Base64.getMimeDecoder().decode(text.substring(from + begin.length(), to));
    } catch (IllegalArgumentException e) {
      throw new InvalidKeySpecException("not Base64", e);
    }
  }

  private static byte[] pkcs8(byte[] algorithm, byte[] key) {
    return der(SEQUENCE, VERSION, algorithm, der(OCTET_STRING, key));
  }

  /** Returns the object identifier of the curve, which follows the version and the number. */
  private static byte[] curve(byte[] sec1) throws InvalidKeySpecException {
    try {
      ByteBuffer key = content(ByteBuffer.wrap(sec1), SEQUENCE);
      content(key, INTEGER);
      content(key, OCTET_STRING);
      ByteBuffer curve = content(key, PARAMETERS);
      byte[] identifier = new byte[curve.remaining()];
      curve.get(identifier);
      return identifier;
    } catch (BufferUnderflowException e) {
      throw new InvalidKeySpecException("the key is cut off", e);
    }
  }

  /** Returns the content of the next element, and moves behind it. */
  private static ByteBuffer content(ByteBuffer from, int tag) throws InvalidKeySpecException {
    if (Byte.toUnsignedInt(from.get()) != tag) {
      throw new InvalidKeySpecException("the key does not name its curve, or is of another form");
    }
    int length = Byte.toUnsignedInt(from.get());
    if (length == 0x81) {
      length = Byte.toUnsignedInt(from.get());
    } else if (length == 0x82) {
      length = Short.toUnsignedInt(from.getShort());
    } else if (length > 0x82) {
      throw new InvalidKeySpecException("the key is too long");
    }
    if (length > from.remaining()) {
      throw new BufferUnderflowException();
    }
    ByteBuffer content = from.slice(from.position(), length);
    from.position(from.position() + length);
    return content;
  }

  private static byte[] der(int tag, byte[]... parts) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      content.writeBytes(part);
    }
    ByteArrayOutputStream element = new ByteArrayOutputStream();
    element.write(tag);
    element.write(0x84); // the length follows in four bytes
    element.writeBytes(ByteBuffer.allocate(Integer.BYTES).putInt(content.size()).array());
    element.writeBytes(content.toByteArray());
    return element.toByteArray();
  }
}
