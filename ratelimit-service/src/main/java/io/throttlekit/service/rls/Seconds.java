package io.throttlekit.service.rls;

import io.throttlekit.Decision;

/** Converts milliseconds to whole seconds for messages and headers, always rounded up. */
final class Seconds {

  private Seconds() {}

  static long ceil(long millis) {
    return Math.ceilDiv(millis, 1_000);
  }

  /** Returns the seconds until the counter is full again. */
  static long untilReset(Decision decision) {
    return ceil(decision.resetAfterMillis());
  }
}
