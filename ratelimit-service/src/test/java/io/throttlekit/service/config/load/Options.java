package io.throttlekit.service.config.load;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Options of {@code serve}, as a command line gives them. */
public final class Options {
  private Options() {}

  /** Returns the options: a name, its value, and so on. Those whose value is null are left out. */
  public static Map<String, List<String>> of(@Nullable String... namesAndValues) {
    Map<String, List<String>> options = new LinkedHashMap<>();
    for (int i = 0; i < namesAndValues.length; i += 2) {
      String value = namesAndValues[i + 1];
      if (value != null) {
        options.put(String.valueOf(namesAndValues[i]), List.of(value));
      }
    }
    return options;
  }
}
