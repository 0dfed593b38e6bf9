package io.throttlekit.descriptors.policy;

import java.util.ArrayList;
import java.util.List;

/**
 * Composite text in which every {@code *} stands for any number of characters, including none. It
 * matches whole texts only. Matching does not allocate.
 */
public final class WildcardPattern {
  private final String prefix;
  private final String[] middles;
  private final String suffix;

  private WildcardPattern(String prefix, String[] middles, String suffix) {
    this.prefix = prefix;
    this.middles = middles;
    this.suffix = suffix;
  }

  /** Creates the pattern of a text that contains at least one {@code *}. */
  public static WildcardPattern of(String text) {
    int first = text.indexOf('*');
    int last = text.lastIndexOf('*');
    List<String> middles = new ArrayList<>();
    for (int from = first + 1; from <= last; ) {
      int star = text.indexOf('*', from);
      if (star > from) {
        middles.add(text.substring(from, star));
      }
      from = star + 1;
    }
    return new WildcardPattern(
        text.substring(0, first), middles.toArray(String[]::new), text.substring(last + 1));
  }

  /**
   * Returns roughly the most characters that {@link #matches} compares for a text of {@code
   * length}.
   */
  public long effort(int length) {
    long effort = 1L + prefix.length() + suffix.length();
    for (String middle : middles) {
      effort = Math.max(effort, (long) length * middle.length());
    }
    return effort;
  }

  /** Returns whether the pattern matches the whole text {@code key_value}. */
  public boolean matches(String key, String value) {
    int end = key.length() + 1 + value.length() - suffix.length();
    // Prefix and suffix may not overlap: `a*a` does not match `a`.
    if (end < prefix.length() || !hasAt(key, value, 0, prefix) || !hasAt(key, value, end, suffix)) {
      return false;
    }
    int from = prefix.length();
    for (String middle : middles) { // the leftmost place leaves the most room for the rest
      int at = indexOf(key, value, from, end, middle);
      if (at < 0) {
        return false;
      }
      from = at + middle.length();
    }
    return true;
  }

  /**
   * Returns whether {@code piece} is at {@code index} of {@code key_value}, which is long enough.
   */
  private static boolean hasAt(String key, String value, int index, String piece) {
    for (int i = 0; i < piece.length(); i++) {
      if (Level.charAt(key, value, index + i) != piece.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns the first index from {@code from} where {@code piece} stands and ends by {@code end},
   * or -1.
   */
  private static int indexOf(String key, String value, int from, int end, String piece) {
    for (int i = from; i + piece.length() <= end; i++) {
      if (hasAt(key, value, i, piece)) {
        return i;
      }
    }
    return -1;
  }
}
