package io.throttlekit.limit;

/** Limit algorithms that a test moves, or that are constant. */
public final class TestLimits {
  /** Halves after a drop, and never for its latency. */
  private static final AimdLimit.Settings HALVING =
      new AimdLimit.Settings(0.5, Double.MAX_VALUE, 1, null, null);

  private TestLimits() {}

  public static ConcurrencyLimit fixed(int limit) {
    return new AimdLimit(new LimitRange(limit, limit, limit), HALVING);
  }

  /** Rises by 1 with {@link #GROW}, and halves with {@link #SHRINK}. */
  public static ConcurrencyLimit movable(int min, int max, int initial) {
    return new AimdLimit(new LimitRange(min, max, initial), HALVING);
  }

  public static final Sample GROW = new Sample(0, 1, 0, Integer.MAX_VALUE, true, false);
  public static final Sample SHRINK = new Sample(0, 1, 0, 1, false, true);
}
