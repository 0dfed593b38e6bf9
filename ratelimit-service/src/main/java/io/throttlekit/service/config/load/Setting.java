package io.throttlekit.service.config.load;

import java.util.Locale;

/**
 * One setting of the configuration: its path in the file, its syntax, and its default.
 *
 * @param path names from the root of the file, joined by dots
 * @param form syntax of its values
 * @param fallback the value when it is not configured
 */
record Setting<T>(String path, Form<T> form, T fallback) {

  /** Returns the environment variable that overrides the file. */
  String variable() {
    return "THROTTLEKIT_" + path.replace('.', '_').toUpperCase(Locale.ROOT);
  }

  @Override
  public String toString() {
    return path;
  }
}
