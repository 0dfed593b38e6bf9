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

  /** Why it cannot be had on this machine, in one line; null when it can. May take a download. */
  @Nullable String whyMissing();
}
