package io.throttlekit.service.rls;

/**
 * The text of an RFC 9651 list of strings with integer parameters, such as {@code "a";r=5;t=30}.
 *
 * <p>The text has only printable ASCII and parses as one list whatever the strings contain, so a
 * rule name cannot add a header or a member. For one thread.
 */
final class StructuredList {
  /** RFC 9651 §3.3.1: an integer has at most 15 digits. */
  private static final long MAX_INTEGER = 999_999_999_999_999L;

  private final StringBuilder text = new StringBuilder();

  StructuredList member(String string) {
    if (!isEmpty()) {
      text.append(", ");
    }
    text.append('"');
    string.codePoints().forEach(this::appendCharacter);
    text.append('"');
    return this;
  }

  StructuredList parameter(char key, long value) {
    text.append(';').append(key).append('=').append(Math.clamp(value, 0, MAX_INTEGER));
    return this;
  }

  boolean isEmpty() {
    return text.isEmpty();
  }

  @Override
  public String toString() {
    return text.toString();
  }

  private void appendCharacter(int character) {
    if (character == '"' || character == '\\') {
      text.append('\\').append((char) character);
    } else if (character >= ' ' && character <= '~') {
      text.append((char) character);
    } else {
      text.append('?');
    }
  }
}
