package io.throttlekit;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** Clocks that move only when a test moves them. Thread-safe. */
public final class ManualTime implements TimeSource {
  private final AtomicLong wallMillis;
  private final AtomicLong monotonicNanos = new AtomicLong();

  /** Creates clocks in step, with the wall clock at {@code wallMillis}. */
  public ManualTime(long wallMillis) {
    this.wallMillis = new AtomicLong(wallMillis);
  }

  /** Advances both clocks by {@code millis}, from 0. */
  public void advance(long millis) {
    if (millis < 0) {
      throw new IllegalArgumentException("time passes forward; use setWall for a clock step");
    }
    monotonicNanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    wallMillis.addAndGet(millis);
  }

  /** Sets only the wall clock, forward or back, as NTP does. */
  public void setWall(long millis) {
    wallMillis.set(millis);
  }

  @Override
  public long wallMillis() {
    return wallMillis.get();
  }

  @Override
  public long monotonicNanos() {
    return monotonicNanos.get();
  }
}
