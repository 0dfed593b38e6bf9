package io.throttlekit.redis;

import io.throttlekit.store.StoreException;
import org.jspecify.annotations.Nullable;

/** Failures in words. */
final class Failures {
  private static final int DEEPEST = 8;

  /** That a call was not answered while its caller waited, for an operator. */
  static final String LATE = "no answer in time";

  /** The same of one call. */
  static final String LATE_MAY_BE_COUNTED =
      "Redis did not answer in time; what was asked may be counted";

  private Failures() {}

  /** Of a call after the end. */
  static StoreException closed() {
    return StoreException.notSent("the store is closed");
  }

  /** Whether Redis takes no writes: it is a replica, or has fewer replicas than it needs. */
  static boolean refusesWrites(String error) {
    return error.contains("READONLY") || error.contains("NOREPLICAS");
  }

  /** That a call took longer than it may, for an operator. */
  static String late(long millis) {
    return "no answer within " + millis + " ms";
  }

  /** The same for whoever called. */
  static String lateForCaller(long millis) {
    return "Redis did not answer within " + millis + " ms; what was asked may be counted";
  }

  /** One of Lettuce, for an operator: the innermost of the causes, which says what happened. */
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
