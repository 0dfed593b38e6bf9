package io.throttlekit.redis;

import io.lettuce.core.codec.Base16;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/** A Lua script, and the SHA-1 by which Redis caches it. */
final class Script {
  private static final String EPOCH = "epoch";

  private static final List<String> COUNTERS =
      List.of(
          "numbers",
          "calls",
          "fixed_window",
          "gcra",
          "token_bucket",
          "sliding_window",
          "sliding_log",
          "fair_division",
          "fair_pool",
          "write_pool",
          "fair_window",
          EPOCH,
          "settle",
          "requests");

  private final List<String> parts;

  /** The Lua text; must not be modified. */
  final byte[] text;

  /** The SHA-1 of the text in hexadecimal digits. */
  final String sha;

  private Script(List<String> parts, byte[] text) {
    this.parts = parts;
    this.text = text;
    this.sha = Base16.digest(text);
  }

  /**
   * Returns the script for a Cluster, where each call compares the server's history: its last key.
   */
  Script inCluster() {
    List<String> all = new ArrayList<>(parts);
    all.addAll(all.indexOf(EPOCH) + 1, List.of("history", "slot"));
    return of(all);
  }

  /** Loads the script that decides on counters. */
  static Script load() {
    return of(COUNTERS);
  }

  /** Loads a federation script: the common parts, followed by {@code parts}. */
  static Script ofFederation(String... parts) {
    List<String> all = new ArrayList<>(List.of("federation", EPOCH));
    all.addAll(List.of(parts));
    return of(all);
  }

  /** Loads a script for budgets that tenants share. */
  static Script ofFairBudget(String first, String second) {
    return ofFederation(
        "structs",
        "calls",
        "fair_division",
        "fair_pool",
        "write_pool",
        "fair_window",
        "budget",
        first,
        "fair_budget",
        second);
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
}
