package io.throttlekit.redis;

import io.throttlekit.store.StoreException;
import org.jspecify.annotations.Nullable;

/** Texts and kinds of failures. */
final class Failures {
  private static final int DEEPEST = 8; // causes may be cyclic

  /** The failure of calls whose deadline passed, for an operator. */
  static final String LATE = "no answer in time";

  /** The failure of one call whose deadline passed. */
  static final String LATE_MAY_BE_COUNTED =
      "Redis did not answer in time; what was asked may be counted";

  private Failures() {}

  /** Returns the failure of a call after the store was closed. */
  static StoreException closed() {
    return StoreException.notSent("the store is closed");
  }

  /**
   * Returns whether Redis rejects writes: it is a replica, or has fewer replicas than it requires.
   */
  static boolean refusesWrites(String error) {
    return error.contains("READONLY") || error.contains("NOREPLICAS");
  }

  /** Returns the failure of a call without an answer within {@code millis}, for an operator. */
  static String late(long millis) {
    return "no answer within " + millis + " ms";
  }

  /** Returns the same failure for the caller. */
  static String lateForCaller(long millis) {
    return "Redis did not answer within " + millis + " ms; what was asked may be counted";
  }

  /** Returns the message of the innermost cause, which names the failure, for an operator. */
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
