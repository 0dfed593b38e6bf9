package io.throttlekit.store;

import io.throttlekit.Decision;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;

/** How {@link io.throttlekit.DataLoss#DENY} refuses what counters that were lost may have held. */
final class Denial {
  /** In place of the time of a loss. */
  static final long NO_LOSS = 0;

  private Denial() {}

  /** For how many ms more a loss at {@code lossMillis} refuses everything; 0 when it is over. */
  static long millisLeft(RateAlgorithm<?> algorithm, long lossMillis, long nowMillis) {
    if (lossMillis == NO_LOSS) {
      return 0;
    }
    long window = algorithm.windowMillis();
    boolean aligned = algorithm instanceof FixedWindow;
    long from = aligned ? lossMillis - Math.floorMod(lossMillis, window) : lossMillis;
    return Math.max(0, from + window - nowMillis);
  }

  /** What a counter decided, as a refusal that stands for {@code waitMillis} at least. */
  static Decision of(Decision decision, long waitMillis) {
    return Decision.refuse(
        decision.limit(),
        Math.min(0, decision.remaining()),
        Math.max(decision.resetAfterMillis(), waitMillis),
        Math.max(decision.retryAfterMillis(), waitMillis));
  }
}
