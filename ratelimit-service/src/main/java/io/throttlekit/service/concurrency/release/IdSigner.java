package io.throttlekit.service.concurrency.release;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.InvalidKeyException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.HexFormat;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Signs the ids of one process's permits with its key: the first 64 bits of an HMAC-SHA256. A
 * signature cannot be computed without the key. Thread-safe.
 */
public final class IdSigner {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int KEY_BYTES = 16;
  private static final int KEY_DIGITS = 2 * KEY_BYTES;

  private final byte[] key;

  /** Guarded by this. */
  private final Mac mac;

  private IdSigner(byte[] key) {
    this.key = key;
    try {
      this.mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
    } catch (NoSuchAlgorithmException | InvalidKeyException e) {
      throw new IllegalStateException("every JDK has it", e);
    }
  }

  /** Creates a signer with a new random key. */
  public static IdSigner create() {
    byte[] key = new byte[KEY_BYTES];
    new SecureRandom().nextBytes(key);
    return new IdSigner(key);
  }

  /**
   * Returns the signer with this key.
   *
   * @param key 32 hexadecimal digits
   * @throws IllegalArgumentException if it is not a key
   */
  static IdSigner of(String key) {
    if (key.length() != KEY_DIGITS) {
      throw new IllegalArgumentException("not " + KEY_DIGITS + " digits");
    }
    return new IdSigner(HexFormat.of().parseHex(key));
  }

  /** Returns the key, in 32 hexadecimal digits. */
  String key() {
    return HexFormat.of().formatHex(key);
  }

  /** Returns the signature, 16 hexadecimal digits, of an ASCII text. */
  public String sign(String text) {
    byte[] signature;
    byte[] bytes = text.getBytes(StandardCharsets.ISO_8859_1);
    synchronized (this) {
      signature = mac.doFinal(bytes);
    }
    return HexFormat.of().toHexDigits(ByteBuffer.wrap(signature).getLong());
  }

  /** Returns whether this is the signature of the text. */
  boolean signed(String text, String signature) {
    return MessageDigest.isEqual(
        sign(text).getBytes(StandardCharsets.ISO_8859_1),
        signature.getBytes(StandardCharsets.ISO_8859_1));
  }
}
