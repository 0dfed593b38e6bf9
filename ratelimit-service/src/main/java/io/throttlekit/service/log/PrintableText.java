package io.throttlekit.service.log;

/**
 * Text of others, such as requests and stores, for outputs: a line of a log or a page, a label of a
 * metric, a statistic. This class alone decides which characters no output contains.
 */
public final class PrintableText {
  // ASCII from here to the delete character is printable
  private static final char FIRST_PRINTABLE = ' ';
  private static final char DELETE = 0x7f;

  private PrintableText() {}

  /**
   * Returns the text with U+FFFD for each character that a terminal or browser would obey instead
   * of showing it: control characters, line and paragraph separators, and format characters, as
   * those that reverse the direction or have no width.
   */
  public static String of(String text) {
    return isPrintable(text) ? text : replaced(text, false);
  }

  /**
   * Returns the text with the code point of each such character as <code>&#92;u{0}</code>, and each
   * backslash doubled. Different texts stay different. A backslash is followed by another one or by
   * a {@code u}.
   */
  public static String escaped(String text) {
    return text.indexOf('\\') < 0 && isPrintable(text) ? text : withEscapes(text);
  }

  private static String withEscapes(String text) {
    StringBuilder shown = new StringBuilder(2 * text.length());
    text.codePoints()
        .forEach(c -> {
          if (c == '\\') {
            shown.append("\\\\");
          } else if (isPrintable(c)) {
            shown.appendCodePoint(c);
          } else {
            shown.append("\\u{").append(Integer.toHexString(c)).append('}');
          }
        });
    return shown.toString();
  }

  /** Returns the text with the replacements of {@link #of} in each of its lines. */
  public static String ofLines(String text) {
    return isPrintable(text, true) ? text : replaced(text, true);
  }

  private static boolean isPrintable(String text) {
    return isPrintable(text, false);
  }

  private static boolean isPrintable(String text, boolean isPage) {
    int c;
    for (int i = 0; i < text.length(); i += Character.charCount(c)) {
      c = text.codePointAt(i);
      if (!isPrintable(c) && !(isPage && c == '\n')) {
        return false;
      }
    }
    return true;
  }

  private static String replaced(String text, boolean isPage) {
    StringBuilder shown = new StringBuilder(text.length());
    text.codePoints()
        .map(c -> isPrintable(c) || (isPage && c == '\n') ? c : '\uFFFD')
        .forEach(shown::appendCodePoint);
    return shown.toString();
  }

  private static boolean isPrintable(int c) {
    if (c < DELETE) {
      return c >= FIRST_PRINTABLE;
    }
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE ->
          false;
      default -> true;
    };
  }
}
