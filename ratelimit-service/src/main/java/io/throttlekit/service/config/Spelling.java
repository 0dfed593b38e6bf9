package io.throttlekit.service.config;

import java.util.Collection;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Spelling suggestions. */
public final class Spelling {

  private Spelling() {}

  /** Returns " (did you mean x?)" for the nearest word, or an empty text when none is near. */
  public static String hint(String word, Collection<String> words) {
    String nearest = nearest(word, words);
    return nearest == null ? "" : " (did you mean " + nearest + "?)";
  }

  private static @Nullable String nearest(String word, Collection<String> words) {
    String nearest = null;
    // A third of the letters may differ; the bound on the length keeps long input cheap.
    int least = Math.max(1, Math.min(word.length(), 64) / 3) + 1;
    for (String candidate : words) {
      if (Math.abs(candidate.length() - word.length()) < least) {
        int distance = distance(word.toLowerCase(Locale.ROOT), candidate.toLowerCase(Locale.ROOT));
        if (distance < least) {
          least = distance;
          nearest = candidate;
        }
      }
    }
    return nearest;
  }

  /**
   * Returns the number of insertions, deletions, replacements and swaps of neighbours between two
   * words.
   */
  private static int distance(String from, String to) {
    int[] beforeLast = new int[to.length() + 1];
    int[] last = new int[to.length() + 1];
    for (int j = 0; j <= to.length(); j++) {
      last[j] = j;
    }
    for (int i = 1; i <= from.length(); i++) {
      int[] row = new int[to.length() + 1];
      row[0] = i;
      for (int j = 1; j <= to.length(); j++) {
        int replaced = last[j - 1] + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        row[j] = Math.min(replaced, Math.min(last[j], row[j - 1]) + 1);
        if (i > 1
            && j > 1
            && from.charAt(i - 1) == to.charAt(j - 2)
            && from.charAt(i - 2) == to.charAt(j - 1)) {
          row[j] = Math.min(row[j], beforeLast[j - 2] + 1);
        }
      }
      beforeLast = last;
      last = row;
    }
    return last[to.length()];
  }
}
