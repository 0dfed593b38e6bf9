package io.throttlekit;

import org.jspecify.annotations.Nullable;

/** Judges measurements by the wall clock, on a machine that may be busy with something else. */
public final class Measured {
  private Measured() {}

  /** One measurement; it fails by an {@link AssertionError}. */
  @FunctionalInterface
  public interface Attempt {
    void run() throws Exception;
  }

  /**
   * Passes when two of at most three attempts pass.
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
