package io.throttlekit.descriptors.policy;

/**
 * The text {@code key_value} of an entry, compared and hashed without building it.
 *
 * <p>No method allocates. The hash is that of the text: with h the hash of {@link String}, {@code
 * h(k_v) = h(k) · 31^(1+|v|) + '_' · 31^|v| + h(v)}.
 */
final class CompositeText {
  private CompositeText() {}

  static int length(String key, String value) {
    return key.length() + 1 + value.length();
  }

  static int hash(String key, String value) {
    return (key.hashCode() * 31 + '_') * powerOf31(value.length()) + value.hashCode();
  }

  static boolean equals(String text, String key, String value) {
    int split = key.length();
    return text.length() == length(key, value)
        && text.charAt(split) == '_'
        && text.startsWith(key)
        && text.startsWith(value, split + 1);
  }

  /** Compares {@code text} with the composite, as {@link String#compareTo} does. */
  static int compare(String text, String key, String value) {
    int length = length(key, value);
    int common = Math.min(text.length(), length);
    for (int i = 0; i < common; i++) {
      int difference = text.charAt(i) - charAt(key, value, i);
      if (difference != 0) {
        return difference;
      }
    }
    return text.length() - length;
  }

  static char charAt(String key, String value, int index) {
    int afterKey = index - key.length();
    if (afterKey < 0) {
      return key.charAt(index);
    }
    return afterKey == 0 ? '_' : value.charAt(afterKey - 1);
  }

  /** Returns whether {@code piece} stands at {@code index}; false for an index out of range. */
  static boolean hasAt(String key, String value, int index, String piece) {
    if (index < 0 || index + piece.length() > length(key, value)) {
      return false;
    }
    for (int i = 0; i < piece.length(); i++) {
      if (charAt(key, value, index + i) != piece.charAt(i)) {
        return false;
      }
    }
    return true;
  }

  /**
   * Returns the first index from {@code from} where {@code piece} stands and ends by {@code end},
   * or -1.
   */
  static int indexOf(String key, String value, int from, int end, String piece) {
    for (int i = from; i + piece.length() <= end; i++) {
      if (hasAt(key, value, i, piece)) {
        return i;
      }
    }
    return -1;
  }

  private static int powerOf31(int exponent) {
    // By squaring, so that a long value costs its bits; overflow wraps as in String.hashCode.
    int power = 1;
    int square = 31;
    for (int rest = exponent; rest != 0; rest >>>= 1) {
      if ((rest & 1) != 0) {
        power *= square;
      }
      square *= square;
    }
    return power;
  }
}
