package io.throttlekit.testkit.required;

import org.jspecify.annotations.Nullable;

/**
 * A program that tests need and the build can usually obtain, such as Envoy.
 *
 * <p>Implementations have a constructor without arguments.
 */
public interface ExternalProgram {

  /** For example {@code Envoy}. */
  String name();

  /** Returns in one line why it is unavailable here; null if it is available. May download. */
  @Nullable String whyMissing();
}
