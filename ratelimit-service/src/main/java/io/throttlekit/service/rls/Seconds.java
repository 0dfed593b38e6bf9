package io.throttlekit.service.rls;

import io.throttlekit.Decision;

/** Milliseconds as the whole seconds that messages and headers carry, always rounded up. */
final class Seconds {

  private Seconds() {}

  static long ceil(long millis) {
    return Math.ceilDiv(millis, 1_000);
  }

  /** Seconds until the counter is whole again. */
  static long untilReset(Decision decision) {
    return ceil(decision.resetAfterMillis());
  }
}
