package io.throttlekit.testkit.envoy;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The digest that identifies a published file. */
final class Sha256 {
  private Sha256() {}

  /** Returns the digest of a file's content, in lower-case hexadecimal. */
  static String of(Path file) throws IOException {
    MessageDigest digest = sha256();
    try (InputStream content = new DigestInputStream(Files.newInputStream(file), digest)) {
      content.transferTo(OutputStream.nullOutputStream());
    }
    return HexFormat.of().formatHex(digest.digest());
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }
}
