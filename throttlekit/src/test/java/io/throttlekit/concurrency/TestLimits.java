package io.throttlekit.concurrency;

/** Limit algorithms that a test moves, or that are constant. */
final class TestLimits {
  private static final long HOUR = 3_600_000_000_000L;

  private TestLimits() {}

  static ConcurrencyLimit fixed(int limit) {
    return new AimdLimit(new LimitRange(limit, limit, limit), 0.5, HOUR);
  }

  /** Rises by 1 with {@link #GROW}, and halves with {@link #SHRINK}. */
  static ConcurrencyLimit movable(int min, int max, int initial) {
    return new AimdLimit(new LimitRange(min, max, initial), 0.5, HOUR);
  }

  static final Sample GROW = new Sample(0, 1, 0, Integer.MAX_VALUE, true, false);
  static final Sample SHRINK = new Sample(0, 1, 0, 1, false, true);
}
