package io.throttlekit.service.config.load;

import java.util.Locale;
import java.util.Map;

/**
 * One setting of the configuration, as {@code service-settings.yaml} declares it.
 *
 * @param path names from the root of the file, joined by dots
 * @param form syntax of its values
 * @param fallback the value when it is not configured
 * @param attributes the declared attributes, those of its form included, by name
 */
record Setting(String path, Form form, Object fallback, Map<String, Object> attributes) {
  /** Returns the environment variable that overrides the file. */
  String variable() {
    return "THROTTLEKIT_" + path.replace('.', '_').toUpperCase(Locale.ROOT);
  }

  /** Returns the attribute, or "" where the setting has none of that name. */
  String attribute(String name) {
    return attributes.getOrDefault(name, "").toString();
  }

  @Override
  public String toString() {
    return path;
  }
}
