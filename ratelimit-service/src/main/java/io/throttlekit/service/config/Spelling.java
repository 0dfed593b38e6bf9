package io.throttlekit.service.config;

import java.util.Collection;
import org.jspecify.annotations.Nullable;

/** What somebody probably meant. */
final class Spelling {

  private Spelling() {}

  /** " (did you mean x?)" for the nearest word, or nothing when none is near. */
  static String hint(String word, Collection<String> words) {
    String nearest = nearest(word, words);
    return nearest == null ? "" : " (did you mean " + nearest + "?)";
  }

  private static @Nullable String nearest(String word, Collection<String> words) {
    String nearest = null;
    int least = Math.max(1, Math.min(word.length(), 64) / 3) + 1;
    for (String candidate : words) {
      if (Math.abs(candidate.length() - word.length()) < least) {
        int distance = distance(word, candidate);
        if (distance < least) {
          least = distance;
          nearest = candidate;
        }
      }
    }
    return nearest;
  }

  /** Insertions, deletions and replacements that turn one word into the other. */
  private static int distance(String from, String to) {
    int[] row = new int[to.length() + 1];
    for (int j = 0; j <= to.length(); j++) {
      row[j] = j;
    }
    for (int i = 1; i <= from.length(); i++) {
      int diagonal = row[0];
      row[0] = i;
      for (int j = 1; j <= to.length(); j++) {
        int replaced = diagonal + (from.charAt(i - 1) == to.charAt(j - 1) ? 0 : 1);
        diagonal = row[j];
        row[j] = Math.min(replaced, Math.min(row[j], row[j - 1]) + 1);
      }
    }
    return row[to.length()];
  }
}
