package io.throttlekit.descriptors.source;

import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Formats messages: quoted input and suggestions. */
public final class Wording {
  // Keeps a message on one line, and bounds the cost of the distance.
  private static final int MAX_QUOTED = 60;

  private Wording() {}

  /**
   * Returns {@code text} in back quotes, on one line, shortened, with invisible characters escaped.
   */
  public static String quote(String text) {
    StringBuilder quoted = new StringBuilder("`");
    int at = 0;
    for (int shown = 0; at < text.length() && shown < MAX_QUOTED; shown++) {
      int character = text.codePointAt(at);
      Visible.append(quoted, character, at == 0);
      at += Character.charCount(character);
    }
    return quoted.append(at < text.length() ? "…`" : "`").toString();
  }

  /** Returns {@code did you mean x?}, or the allowed words when none is near. */
  public static String suggest(String written, Collection<String> allowed) {
    return suggest(written, allowed, "allowed: " + String.join(", ", allowed));
  }

  /** Returns {@code did you mean x?}, or {@code otherwise} when none of the words is near. */
  public static String suggest(String written, Collection<String> words, String otherwise) {
    String nearest = nearest(written, words);
    return nearest == null ? otherwise : "did you mean " + nearest + "?";
  }

  /** Returns " (did you mean x?)" for the nearest word, or "" when none is near. */
  public static String hint(String written, Collection<String> words) {
    String nearest = nearest(written, words);
    return nearest == null ? "" : " (did you mean " + nearest + "?)";
  }

  /**
   * Returns the word that {@code written} probably stands for; {@code null} when none is similar.
   */
  public static @Nullable String nearest(String written, Collection<String> words) {
    if (written.length() > MAX_QUOTED) {
      return null;
    }
    String plain = plain(written);
    // A third of the letters may differ, and at least one.
    int best = Math.max(1, plain.length() / 3) + 1;
    String nearest = null;
    for (String word : words) {
      if (Math.abs(word.length() - written.length()) > MAX_QUOTED) {
        continue; // too long to compare; the distance costs the product of the lengths
      }
      int distance = distance(plain, plain(word));
      if (distance < best) {
        best = distance;
        nearest = word;
      }
    }
    return nearest;
  }

  /**
   * Returns the nearest word, or else the only one that begins like {@code written}: with more than
   * half of the shorter of the two, and at least three letters. {@code null} when there is none.
   */
  public static @Nullable String meant(String written, Collection<String> words) {
    String nearest = nearest(written, words);
    if (nearest != null) {
      return nearest;
    }
    String plain = plain(written);
    List<String> alike = words.stream().filter(word -> beginAlike(plain, plain(word))).toList();
    return alike.size() == 1 ? alike.getFirst() : null;
  }

  private static boolean beginAlike(String a, String b) {
    int shorter = Math.min(a.length(), b.length());
    int same = 0;
    while (same < shorter && a.charAt(same) == b.charAt(same)) {
      same++;
    }
    return same >= 3 && 2 * same > shorter;
  }

  private static String plain(String word) {
    return word.toLowerCase(Locale.ROOT).replaceAll("[-_. ]", "");
  }

  /**
   * Returns the number of insertions, deletions, replacements and swaps of neighbours between two
   * words.
   */
  private static int distance(String a, String b) {
    int[][] steps = new int[a.length() + 1][b.length() + 1];
    for (int i = 0; i <= a.length(); i++) {
      for (int j = 0; j <= b.length(); j++) {
        if (i == 0 || j == 0) {
          steps[i][j] = i + j;
          continue;
        }
        int replace = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
        steps[i][j] =
            Math.min(steps[i - 1][j - 1] + replace, 1 + Math.min(steps[i - 1][j], steps[i][j - 1]));
        if (i > 1
            && j > 1
            && a.charAt(i - 1) == b.charAt(j - 2)
            && a.charAt(i - 2) == b.charAt(j - 1)) {
          steps[i][j] = Math.min(steps[i][j], steps[i - 2][j - 2] + 1);
        }
      }
    }
    return steps[a.length()][b.length()];
  }
}
