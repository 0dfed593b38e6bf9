package io.throttlekit.bench.micro;

import java.time.Duration;

/** Common result of all decisions of a run. */
public enum Mix {
  /**
   * All admit: the limit, a hundred thousand a second of each key, is some forty times what a
   * thread can request.
   */
  ADMITTED(100_000, Duration.ofSeconds(1)),

  /** All refuse: every key is exhausted before the run, and has the next unit after days. */
  REFUSED(100, Duration.ofDays(365));

  private final long limit;
  private final Duration window;

  Mix(long limit, Duration window) {
    this.limit = limit;
    this.window = window;
  }

  long limit() {
    return limit;
  }

  Duration window() {
    return window;
  }

  long windowMillis() {
    return window.toMillis();
  }

  /**
   * Checks the decisions of a run.
   *
   * @throws IllegalStateException if a decision does not match, or there was none
   */
  void check(long admitted, long refused) {
    if ((this == ADMITTED ? refused : admitted) > 0 || admitted + refused == 0) {
      throw new IllegalStateException(
          "all were to be "
              + this
              + ", but "
              + admitted
              + " were admitted, "
              + refused
              + " refused");
    }
  }
}
