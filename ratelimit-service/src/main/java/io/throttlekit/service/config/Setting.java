package io.throttlekit.service.config;

import java.util.Locale;

/**
 * One field of the configuration: its place in the file, how it is written, and what it is when
 * nobody says.
 *
 * @param path names from the root of the file, joined by dots
 * @param form how values are written
 * @param fallback the value when nothing is configured
 */
record Setting<T>(String path, Form<T> form, T fallback) {

  /** The environment variable that overrides the file. */
  String variable() {
    return "THROTTLEKIT_" + path.replace('.', '_').toUpperCase(Locale.ROOT);
  }

  @Override
  public String toString() {
    return path;
  }
}
