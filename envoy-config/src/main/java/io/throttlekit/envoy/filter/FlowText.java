package io.throttlekit.envoy.filter;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Message;
import com.google.protobuf.UInt32Value;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.StringJoiner;
import java.util.regex.Pattern;

/** Writes messages on one line, as YAML in flow style. */
final class FlowText {
  private static final Pattern PLAIN = Pattern.compile("[a-zA-Z][a-zA-Z0-9._/-]*");

  /** Words that YAML 1.1 or 1.2 reads as something else than a text. */
  private static final Set<String> RESERVED =
      Set.of("true", "false", "yes", "no", "on", "off", "null", "y", "n", "nan", "inf");

  private FlowText() {}

  /** Returns the fields of a message that are set: {@code {a: 1, b: {c: text}}}. */
  static String of(Message message) {
    return "{" + fields(message) + "}";
  }

  /** Does the same without the outer braces: {@code a: 1, b: {c: text}}. */
  static String fields(Message message) {
    StringJoiner fields = new StringJoiner(", ");
    message
        .getAllFields()
        .forEach((field, value) ->
            fields.add(field.getName() + ": " + (field.isRepeated() ? list(value) : value(value))));
    return fields.toString();
  }

  private static String list(Object values) {
    StringJoiner items = new StringJoiner(", ", "[", "]");
    ((List<?>) values).forEach(value -> items.add(value(value)));
    return items.toString();
  }

  private static String value(Object value) {
    return switch (value) {
      case UInt32Value number -> Long.toString(Integer.toUnsignedLong(number.getValue()));
      case Message message -> of(message);
      case EnumValueDescriptor constant -> constant.getName();
      case String text -> scalar(text);
      default -> value.toString();
    };
  }

  /** Returns a text as a YAML scalar. */
  static String scalar(String text) {
    if (PLAIN.matcher(text).matches() && !RESERVED.contains(text.toLowerCase(Locale.ROOT))) {
      return text;
    }
    StringBuilder quoted = new StringBuilder("\"");
    text.codePoints()
        .forEach(c -> {
          if (c == '"' || c == '\\') {
            quoted.append('\\').appendCodePoint(c);
          } else if (!isPrintable(c)) { // would end the line, or is not allowed in YAML
            quoted.append(String.format(Locale.ROOT, c > 0xFFFF ? "\\U%08x" : "\\u%04x", c));
          } else {
            quoted.appendCodePoint(c);
          }
        });
    return quoted.append('"').toString();
  }

  private static boolean isPrintable(int c) {
    return switch (Character.getType(c)) {
      case Character.CONTROL,
          Character.FORMAT,
          Character.LINE_SEPARATOR,
          Character.PARAGRAPH_SEPARATOR,
          Character.PRIVATE_USE,
          Character.SURROGATE,
          Character.UNASSIGNED ->
          false;
      default -> true;
    };
  }
}
