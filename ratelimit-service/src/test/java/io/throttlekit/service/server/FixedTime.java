package io.throttlekit.service.server;

import io.throttlekit.TimeSource;

/** A wall clock that only the test moves. */
public final class FixedTime implements TimeSource {
  private volatile long wallMillis;

  /** Creates a clock at {@code wallMillis}. */
  public FixedTime(long wallMillis) {
    this.wallMillis = wallMillis;
  }

  /** Moves the clock. */
  public void set(long millis) {
    wallMillis = millis;
  }

  @Override
  public long wallMillis() {
    return wallMillis;
  }

  @Override
  public long monotonicNanos() {
    return System.nanoTime();
  }
}
