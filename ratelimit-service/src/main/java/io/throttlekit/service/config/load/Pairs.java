package io.throttlekit.service.config.load;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;

/** Reads settings of pairs that are separated by commas. Their values may be secrets. */
final class Pairs {
  private static final Pattern NAME = Pattern.compile("[!#$%&'*+.^_`|~0-9A-Za-z-]{1,256}");
  private static final Pattern HEADER_VALUE = Pattern.compile("[ -~]{0,8192}");

  private Pairs() {}

  /** Returns the headers of a setting, by lower-case name; none after reporting an error. */
  static Map<String, String> headers(SettingValues values, String setting, String separator) {
    Map<String, String> headers = new LinkedHashMap<>();
    read(values, setting, separator)
        .forEach((name, value) -> {
          String lower = name.toLowerCase(Locale.ROOT); // as HTTP/2 requires
          if (lower.endsWith("-bin") && NAME.matcher(name).matches()) {
            values.error(
                values.origin(setting), name + " is the name of a header with binary values");
          } else if (!NAME.matcher(name).matches()) { // it may be a value, with a secret
            values.error(
                values.origin(setting),
                "the text before a \"%s\" is not the name of a header".formatted(separator));
          } else if (!HEADER_VALUE.matcher(value).matches()) {
            values.error(
                values.origin(setting),
                "the value of " + name + " has characters other than printable ASCII");
          } else {
            headers.put(lower, value);
          }
        });
    return headers;
  }

  /** Returns the pairs of a setting; none after reporting an error. */
  static Map<String, String> read(SettingValues values, String setting, String separator) {
    Map<String, String> pairs = new LinkedHashMap<>();
    String text = values.text(setting);
    for (String pair : text.isEmpty() ? List.<String>of() : List.of(text.split(",", -1))) {
      int at = pair.indexOf(separator);
      if (at < 1) {
        values.error(
            values.origin(setting),
            "each part of %s is NAME%sVALUE, separated by commas".formatted(setting, separator));
        return Map.of();
      }
      pairs.put(pair.substring(0, at).strip(), pair.substring(at + 1).strip());
    }
    return pairs;
  }
}
