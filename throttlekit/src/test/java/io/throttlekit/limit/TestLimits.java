package io.throttlekit.limit;

/** Limit algorithms that a test moves, or that are constant. */
public final class TestLimits {
  private static final long HOUR = 3_600_000_000_000L;

  private TestLimits() {}

  public static ConcurrencyLimit fixed(int limit) {
    return new AimdLimit(new LimitRange(limit, limit, limit), 0.5, HOUR);
  }

  /** Rises by 1 with {@link #GROW}, and halves with {@link #SHRINK}. */
  public static ConcurrencyLimit movable(int min, int max, int initial) {
    return new AimdLimit(new LimitRange(min, max, initial), 0.5, HOUR);
  }

  public static final Sample GROW = new Sample(0, 1, 0, Integer.MAX_VALUE, true, false);
  public static final Sample SHRINK = new Sample(0, 1, 0, 1, false, true);
}
