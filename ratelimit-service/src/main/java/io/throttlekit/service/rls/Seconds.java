package io.throttlekit.service.rls;

import io.throttlekit.Decision;
import io.throttlekit.descriptors.Limit;
import io.throttlekit.rate.FixedWindow;

/** Milliseconds as the whole seconds that messages and headers carry, always rounded up. */
final class Seconds {

  private Seconds() {}

  static long ceil(long millis) {
    return Math.ceilDiv(millis, 1_000);
  }

  /**
   * Seconds until the counter is whole again: at least 1 for a window, which is never at its end,
   * although the clock may have passed it since the decision.
   */
  static long untilReset(Limit limit, Decision decision, long nowMillis) {
    long least = limit.algorithm() instanceof FixedWindow ? 1 : 0;
    return Math.max(least, ceil(decision.resetAtMillis() - nowMillis));
  }
}
