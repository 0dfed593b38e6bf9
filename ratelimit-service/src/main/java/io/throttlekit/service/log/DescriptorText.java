package io.throttlekit.service.log;

/** Descriptors as texts of bounded length, as {@code throttlekit explain} takes them. */
public final class DescriptorText {
  /** Length at which each text of a request is cut, in chars. */
  public static final int MAX_SHOWN = 60;

  /** Entries that are shown of a descriptor. */
  private static final int MAX_ENTRIES = 8;

  private DescriptorText() {}

  /**
   * Returns {@code key=value,key=value}, with a backslash before each comma of a value.
   *
   * @param entries key, value, key, value …
   */
  public static String of(String[] entries) {
    StringBuilder descriptor = new StringBuilder();
    for (int i = 0; i < entries.length; i += 2) {
      if (i == 2 * MAX_ENTRIES) {
        descriptor.append(",…");
        break;
      }
      descriptor
          .append(i == 0 ? "" : ",")
          .append(shown(entries[i], MAX_SHOWN))
          .append('=')
          .append(shown(entries[i + 1], MAX_SHOWN).replace(",", "\\,"));
    }
    return descriptor.toString();
  }

  /** Returns a text without characters that are not printable, cut at a length in chars. */
  public static String shown(String text, int max) {
    return text.length() <= max
        ? PrintableText.of(text)
        : PrintableText.of(text.substring(0, max)) + "…";
  }
}
