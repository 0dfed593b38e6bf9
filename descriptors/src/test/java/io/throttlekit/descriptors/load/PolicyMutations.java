package io.throttlekit.descriptors.load;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.random.RandomGenerator;

/** Makes policies that are nearly valid, from valid ones. */
public final class PolicyMutations {
  private static final List<String> TOKENS =
      List.of(
          "&a ",
          "*a",
          "<<: *a",
          "<<: [*a, *a]",
          "[",
          "]",
          "{",
          "}",
          "- ",
          ": ",
          "? ",
          "| ",
          "> ",
          "'",
          "\"",
          "#",
          "---\n",
          "...\n",
          "%YAML 1.1\n",
          "!!int ",
          "!x ",
          "\t",
          "\r",
          "\u2028",
          "~",
          "null",
          "1.5",
          "-1",
          "0x",
          "99999999999999999999",
          ".nan",
          "yes",
          "*",
          "\\x00",
          "\uFEFF",
          "é",
          "😀",
          "key: ",
          "value: ",
          "rate_limit: ",
          "limits: ",
          "descriptors: ",
          "unit: ",
          "every: ",
          "algorithm: gcra",
          "burst: ",
          "tier: leased",
          "tier: cached_deny",
          "scope: global",
          "on_outage: regional_only",
          "lease: ",
          "size: ",
          "low_water: ",
          "on_data_loss: ",
          "concurrency: ",
          "gate: envoy",
          "priority: {entry: a}",
          "queue: ",
          "release: access_log",
          "metadata: ",
          "fair_share: {tenant: a}",
          "tenant: ",
          "weights: {a: 1}",
          "weight_entry: ",
          "default_weight: ",
          "max_tenants: ",
          "unlisted_share: ",
          "replaces: ");

  private final RandomGenerator random;
  private final List<String> seeds;

  public PolicyMutations(RandomGenerator random, List<String> seeds) {
    this.random = random;
    this.seeds = seeds;
  }

  /** Returns the bytes of the next file. */
  public byte[] next() {
    String text = seeds.get(random.nextInt(seeds.size()));
    int changes = random.nextInt(3) == 0 ? 1 + random.nextInt(5) : 1;
    for (int i = 0; i < changes; i++) {
      text = change(text);
    }
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    if (bytes.length > 0 && random.nextInt(5) == 0) {
      bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
    }
    return bytes;
  }

  private String change(String text) {
    return switch (random.nextInt(9)) {
      case 0 -> splice(text, TOKENS.get(random.nextInt(TOKENS.size())), 0);
      case 1 -> splice(text, TOKENS.get(random.nextInt(TOKENS.size())), random.nextInt(12));
      case 2 -> splice(text, "", random.nextInt(40));
      case 3 -> lines(text, Line.DROP);
      case 4 -> lines(text, Line.REPEAT);
      case 5 -> lines(text, Line.SHUFFLE);
      case 6 -> lines(text, Line.INDENT);
      case 7 -> splice(text, deep(), 0);
      default -> random.nextInt(4) == 0 ? randomYaml(0) : swapWords(text);
    };
  }

  private String splice(String text, String piece, int removed) {
    int at = random.nextInt(text.length() + 1);
    int end = Math.min(text.length(), at + removed);
    return text.substring(0, at) + piece + text.substring(end);
  }

  private enum Line {
    DROP,
    REPEAT,
    SHUFFLE,
    INDENT
  }

  private String lines(String text, Line what) {
    List<String> lines = new ArrayList<>(text.lines().toList());
    if (lines.isEmpty()) {
      return text;
    }
    int at = random.nextInt(lines.size());
    switch (what) {
      case DROP -> lines.remove(at);
      case REPEAT -> lines.add(random.nextInt(lines.size()), lines.get(at));
      case SHUFFLE -> Collections.swap(lines, at, random.nextInt(lines.size()));
      case INDENT -> lines.set(at, " ".repeat(random.nextInt(6)) + lines.get(at).strip());
    }
    return String.join("\n", lines);
  }

  private String deep() {
    String opening = random.nextBoolean() ? "[" : "{a: ";
    return opening.repeat(random.nextInt(300));
  }

  private String swapWords(String text) {
    String[] words = text.split("\\b", -1);
    int a = random.nextInt(words.length);
    int b = random.nextInt(words.length);
    String swapped = words[a];
    words[a] = words[b];
    words[b] = swapped;
    return String.join("", words);
  }

  private String randomYaml(int depth) {
    int kind = depth > 6 ? 0 : random.nextInt(3);
    if (kind == 0) {
      return TOKENS.get(random.nextInt(TOKENS.size())).strip();
    }
    StringBuilder yaml = new StringBuilder(kind == 1 ? "[" : "{");
    for (int i = random.nextInt(4); i >= 0; i--) {
      if (kind == 2) {
        yaml.append(TOKENS.get(random.nextInt(TOKENS.size())).strip()).append(": ");
      }
      yaml.append(randomYaml(depth + 1)).append(", ");
    }
    return yaml.append(kind == 1 ? "]" : "}").toString();
  }
}
