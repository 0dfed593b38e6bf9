package io.throttlekit.redis;

import org.jspecify.annotations.Nullable;

/** Failures of Lettuce, for an operator. */
final class Failures {
  private static final int DEEPEST = 8;

  private Failures() {}

  /** The innermost of the causes, which says what happened. */
  static String inWords(@Nullable Throwable failure) {
    if (failure == null) {
      return "unknown";
    }
    Throwable innermost = failure;
    for (int i = 0; i < DEEPEST; i++) {
      Throwable cause = innermost.getCause();
      if (cause == null) {
        break;
      }
      innermost = cause;
    }
    String message = innermost.getMessage();
    return message == null ? innermost.toString() : message;
  }
}
