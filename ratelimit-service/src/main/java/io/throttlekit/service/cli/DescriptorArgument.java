package io.throttlekit.service.cli;

import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.TypeConversionException;

/**
 * Descriptor on a command line: {@code key=value,key=value}. A comma or a backslash in a value is
 * escaped by a backslash.
 *
 * @param text as it is written
 * @param entries key, value, key, value …
 */
record DescriptorArgument(String text, List<String> entries) {

  static DescriptorArgument parse(String text) {
    List<String> entries = new ArrayList<>();
    for (String entry : split(text)) {
      int equals = entry.indexOf('=');
      if (equals <= 0) {
        throw new TypeConversionException(
            "'"
                + text
                + "' is not a descriptor: write key=value,key=value, and a comma in a value"
                + " as '\\,'");
      }
      entries.add(entry.substring(0, equals));
      entries.add(entry.substring(equals + 1));
    }
    return new DescriptorArgument(text, List.copyOf(entries));
  }

  private static List<String> split(String text) {
    List<String> entries = new ArrayList<>();
    StringBuilder entry = new StringBuilder();
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      if (c == '\\' && i + 1 < text.length()) {
        entry.append(text.charAt(++i));
      } else if (c == ',') {
        entries.add(entry.toString());
        entry.setLength(0);
      } else {
        entry.append(c);
      }
    }
    entries.add(entry.toString());
    return entries;
  }

  @Override
  public String toString() {
    return text;
  }
}
