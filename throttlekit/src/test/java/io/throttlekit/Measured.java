package io.throttlekit;

import org.jspecify.annotations.Nullable;

/** Checks measurements against the wall clock, on a machine that may be busy. */
public final class Measured {
  private Measured() {}

  /** A measurement, which fails with an {@link AssertionError}. */
  @FunctionalInterface
  public interface Attempt {
    void run() throws Exception;
  }

  /**
   * Passes if two of at most three attempts pass.
   *
   * @throws AssertionError of the second attempt that fails, with the first one's as suppressed
   * @throws Exception any other failure, at once
   */
  public static void twoOfThree(Attempt attempt) throws Exception {
    @Nullable AssertionError earlier = null;
    for (int passed = 0; passed < 2; ) {
      try {
        attempt.run();
        passed++;
      } catch (AssertionError e) {
        if (earlier != null) {
          e.addSuppressed(earlier);
          throw e;
        }
        earlier = e;
      }
    }
  }
}
