package io.throttlekit.redis;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** A script, and the name under which Redis keeps it. */
final class Script {
  private static final String EPOCH = "epoch";

  private static final List<String> COUNTERS =
      List.of(
          "numbers",
          "fixed_window",
          "gcra",
          "token_bucket",
          "sliding_window",
          "sliding_log",
          EPOCH,
          "settle",
          "requests");

  private final List<String> parts;
  private final byte[] text;
  private final byte[] sha;

  private Script(List<String> parts, byte[] text) {
    this.parts = parts;
    this.text = text;
    this.sha = sha(text);
  }

  /** The same, for a server whose history each call compares: its last key. */
  Script inCluster() {
    List<String> all = new ArrayList<>(parts);
    all.addAll(all.indexOf(EPOCH) + 1, List.of("history", "slot"));
    return of(all);
  }

  /** In Lua; not to be changed. */
  byte[] text() {
    return text;
  }

  /** SHA-1 of the text in hexadecimal digits; not to be changed. */
  byte[] sha() {
    return sha;
  }

  /** The one that decides what happens to counters. */
  static Script load() {
    return of(COUNTERS);
  }

  /** One of a federation: what all of them begin with, and these parts. */
  static Script ofFederation(String... parts) {
    List<String> all = new ArrayList<>(List.of("federation", EPOCH));
    all.addAll(List.of(parts));
    return of(all);
  }

  private static Script of(List<String> parts) {
    StringBuilder text = new StringBuilder();
    for (String part : parts) {
      try (InputStream in = Script.class.getResourceAsStream(part + ".lua")) {
        if (in == null) {
          throw new IllegalStateException(part + ".lua is not beside " + Script.class);
        }
        text.append(new String(in.readAllBytes(), StandardCharsets.UTF_8)).append('\n');
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return new Script(parts, text.toString().getBytes(StandardCharsets.UTF_8));
  }

  private static byte[] sha(byte[] bytes) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-1").digest(bytes);
      return HexFormat.of().formatHex(digest).getBytes(StandardCharsets.US_ASCII);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-1", e);
    }
  }
}
