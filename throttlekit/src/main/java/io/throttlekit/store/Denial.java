package io.throttlekit.store;

import io.throttlekit.Decision;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.rate.RateAlgorithm;

/** Refusals by {@link io.throttlekit.DataLoss#DENY} for counters whose data were lost. */
final class Denial {
  /** The time of loss when there was none. */
  static final long NO_LOSS = 0;

  private Denial() {}

  /**
   * Returns for how many more ms a loss at {@code lossMillis} refuses everything; 0 when it no
   * longer does.
   */
  static long millisLeft(RateAlgorithm<?> algorithm, long lossMillis, long nowMillis) {
    if (lossMillis == NO_LOSS) {
      return 0;
    }
    long window = algorithm.windowMillis();
    boolean aligned = algorithm instanceof FixedWindow;
    // A fixed window forgets at its end; the others may remember a charge for one window.
    long from = aligned ? lossMillis - Math.floorMod(lossMillis, window) : lossMillis;
    return Math.max(0, from + window - nowMillis);
  }

  /** Turns a counter's decision into a refusal of at least {@code waitMillis}. */
  static Decision of(Decision decision, long waitMillis) {
    return Decision.refuse(
        decision.limit(),
        Math.min(0, decision.remaining()), // a debt is reported, units that cannot be had are not
        Math.max(decision.resetAfterMillis(), waitMillis),
        Math.max(decision.retryAfterMillis(), waitMillis));
  }
}
