package io.throttlekit.service.log;

/** Text of others, such as requests and stores, for one line of a log or a page. */
public final class PrintableText {
  private PrintableText() {}

  /**
   * Returns the text with U+FFFD for each character that a terminal or browser would obey instead
   * of showing it: control characters, line and paragraph separators, and format characters, as
   * those that reverse the direction or have no width.
   */
  public static String of(String text) {
    return isPrintable(text) ? text : replaced(text);
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

  private static boolean isPrintable(String text) {
    return text.codePoints().allMatch(PrintableText::isPrintable);
  }

  private static String replaced(String text) {
    StringBuilder shown = new StringBuilder(text.length());
    text.codePoints().forEach(c -> shown.appendCodePoint(isPrintable(c) ? c : '\uFFFD'));
    return shown.toString();
  }

  private static boolean isPrintable(int c) {
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
