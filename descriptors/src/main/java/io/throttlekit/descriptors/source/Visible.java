package io.throttlekit.descriptors.source;

import java.util.Locale;

/** Distinguishes characters that are visible in a message from those that are not. */
final class Visible {
  private static final String BLANKS = "\u115F\u1160\u17B4\u17B5\u2800\u3164\uFFA0";

  private Visible() {}

  /**
   * Appends the character, or its escape as YAML writes it.
   *
   * @param first whether no character precedes it that it could combine with
   */
  static void append(StringBuilder text, int character, boolean first) {
    if (isVisible(character, first)) {
      text.appendCodePoint(character);
    } else {
      String escape = character > 0xFFFF ? "\\U%08x" : "\\u%04x";
      text.append(String.format(Locale.ROOT, escape, character));
    }
  }

  private static boolean isVisible(int character, boolean first) {
    return switch (Character.getType(character)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.SURROGATE,
          Character.UNASSIGNED,
          Character.PRIVATE_USE,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR ->
          false;
      case Character.SPACE_SEPARATOR -> character == ' ';
      case Character.NON_SPACING_MARK, Character.ENCLOSING_MARK, Character.COMBINING_SPACING_MARK ->
          !first && !joinsInvisibly(character);
      default -> !isBlank(character);
    };
  }

  /**
   * Returns whether a mark shows nothing of its own: the grapheme joiner and variation selectors.
   */
  private static boolean joinsInvisibly(int mark) {
    return mark == 0x034F
        || (mark >= 0x180B && mark <= 0x180F)
        || (mark >= 0xFE00 && mark <= 0xFE0F)
        || (mark >= 0xE0100 && mark <= 0xE01EF);
  }

  /**
   * Returns whether a letter or sign has no ink: Hangul and Khmer fillers, the empty Braille cell.
   */
  private static boolean isBlank(int character) {
    return BLANKS.indexOf(character) >= 0;
  }
}
