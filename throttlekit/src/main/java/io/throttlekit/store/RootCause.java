package io.throttlekit.store;

import org.jspecify.annotations.Nullable;

/** Describes failures of stores to operators. */
public final class RootCause {
  private static final int MAX_CAUSES = 8; // causes may be cyclic

  private RootCause() {}

  /** Returns the message of the innermost cause of a failure, which names it. */
  public static String message(@Nullable Throwable failure) {
    if (failure == null) {
      return "unknown";
    }
    Throwable innermost = failure;
    for (int i = 0; i < MAX_CAUSES && innermost.getCause() != null; i++) {
      innermost = innermost.getCause();
    }
    String message = innermost.getMessage();
    return message == null ? innermost.toString() : message;
  }
}
