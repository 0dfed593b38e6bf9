package io.throttlekit.tier;

import io.throttlekit.ClockDrift;
import io.throttlekit.MonotonicSpan;
import io.throttlekit.rate.FixedWindow;

/**
 * Which window lasts, by a clock that is far away and read only where it answers.
 *
 * <p>An answer tells that its window ended neither before {@code asked + lasts} nor after {@code
 * answered + endsWithin}, less and more what two clocks may drift apart. Every answer narrows the
 * two times, and both move on by the length of a window, so there is always a time until which a
 * window surely lasts, and one from which on the next surely does. Between them it may be either.
 *
 * <p>No wall clock of this process is read, so none can be wrong. Not thread-safe. Times are
 * monotonic ns.
 */
final class WindowClock {
  private static final long UNKNOWN = Long.MIN_VALUE;

  private final long lengthMillis;
  private final long lengthNanos;
  private long endMillis = UNKNOWN;
  private long lastsUntilNanos;
  private long overByNanos;

  WindowClock(FixedWindow window) {
    this.lengthMillis = window.windowMillis();
    this.lengthNanos = MonotonicSpan.nanos(lengthMillis);
  }

  /** Whether there was any answer yet. */
  boolean isKnown() {
    return endMillis != UNKNOWN;
  }

  /** Names the window by its end; while it {@link #mayBeOver}, the older one of the two. */
  long endMillis() {
    return endMillis;
  }

  /** Names the one after it. */
  long nextEndMillis() {
    return endMillis + lengthMillis;
  }

  long lengthNanos() {
    return lengthNanos;
  }

  /** Until when it surely lasts. */
  long lastsUntilNanos() {
    return lastsUntilNanos;
  }

  /** From when on the next one surely does. */
  long overByNanos() {
    return overByNanos;
  }

  /** Whether nobody can say if this window lasts or the next one does. */
  boolean mayBeOver(long now) {
    return now - lastsUntilNanos >= 0;
  }

  /** Moves on to the window that lasts; returns by how many, from 0. */
  long roll(long now) {
    if (!isKnown() || now - overByNanos < 0) {
      return 0;
    }
    long drift = ClockDrift.after(lengthNanos);
    long windows = 1 + (now - overByNanos) / (lengthNanos + drift); // as one by one
    endMillis += windows * lengthMillis;
    lastsUntilNanos += windows * (lengthNanos - drift);
    overByNanos += windows * (lengthNanos + drift);
    return windows;
  }

  /**
   * Learns from an answer which window lasts, where it tells of a newer one.
   *
   * @param ahead whether the next window was asked for, which need not have begun
   * @return by how many windows this moved on, from 0
   */
  long follow(LeasedUnits leased, boolean ahead, long asked, long answered) {
    long end = leased.windowEndMillis();
    long windows = isKnown() ? (end - endMillis) / lengthMillis : 0;
    if (isKnown() && windows <= (ahead ? 1 : 0)) {
      return 0;
    }
    endMillis = end;
    lastsUntilNanos = lastsUntil(leased.lastsMillis(), asked);
    overByNanos = overBy(leased.endsWithinMillis(), answered);
    return windows;
  }

  /** Learns from an answer, for this window or the next, when this one ends. */
  void narrow(LeasedUnits leased, long asked, long answered) {
    long later = leased.windowEndMillis() - endMillis;
    long notBefore = lastsUntil(leased.lastsMillis() - later, asked);
    long notAfter = overBy(leased.endsWithinMillis() - later, answered);
    lastsUntilNanos += Math.max(0, notBefore - lastsUntilNanos);
    overByNanos += Math.min(0, notAfter - overByNanos);
    if (lastsUntilNanos - overByNanos > 0) { // the clock was set, or another has taken over
      lastsUntilNanos = notBefore;
      overByNanos = notAfter;
    }
  }

  @Override
  public String toString() {
    return "%d until %d to %d".formatted(endMillis, lastsUntilNanos, overByNanos);
  }

  private static long lastsUntil(long millis, long asked) {
    long nanos = MonotonicSpan.nanos(millis);
    return asked + nanos - LeaseCell.ROUNDING_NANOS - ClockDrift.after(nanos);
  }

  private static long overBy(long millis, long answered) {
    long nanos = MonotonicSpan.nanos(millis);
    return answered + nanos + ClockDrift.after(nanos);
  }
}
