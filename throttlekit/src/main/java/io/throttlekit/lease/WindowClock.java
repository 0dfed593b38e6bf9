package io.throttlekit.lease;

import static io.throttlekit.MonotonicSpan.NANOS_PER_MILLI;

import io.throttlekit.MonotonicSpan;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;

/**
 * Estimates which window is current, by a remote clock that is known only through its answers.
 *
 * <p>By an answer, its window does not end before {@code sent + lasts} and ends by {@code answered
 * + endsWithin}, widened by the possible drift of the two clocks. Every answer narrows these two
 * times, and both move on by the length of a window. So until the first time the window is
 * certainly current, and from the second time on the next one is. In between it may be either.
 *
 * <p>No wall clock of this process is read, so a wrong one does no harm. Not thread-safe. Times are
 * monotonic ns.
 */
final class WindowClock {
  private static final long UNKNOWN = Long.MIN_VALUE; // before the first answer

  private final long lengthMillis;
  private final long lengthNanos;
  private long endMillis = UNKNOWN;
  private long lastsUntilNanos;
  private long overByNanos;

  WindowClock(FixedWindow window) {
    this.lengthMillis = window.windowMillis();
    this.lengthNanos = MonotonicSpan.nanos(lengthMillis);
  }

  /** Returns whether there has been an answer. */
  boolean isKnown() {
    return endMillis != UNKNOWN;
  }

  /**
   * Returns the end of the window, which names it; while it {@link #mayBeOver}, of the older of the
   * two.
   */
  long endMillis() {
    return endMillis;
  }

  /** Returns the end of the next window, which names it. */
  long nextEndMillis() {
    return endMillis + lengthMillis;
  }

  long lengthNanos() {
    return lengthNanos;
  }

  /** Returns until when the window certainly is current. */
  long lastsUntilNanos() {
    return lastsUntilNanos;
  }

  /** Returns from when on the next window certainly is current. */
  long overByNanos() {
    return overByNanos;
  }

  /** Returns the ms until the window has certainly ended, rounded up for retry times. */
  long millisToEnd(long now) {
    return isKnown() ? Math.max(0, Math.ceilDiv(overByNanos - now, NANOS_PER_MILLI)) : 0;
  }

  /** Returns whether the next window may have begun. */
  boolean mayBeOver(long now) {
    return now - lastsUntilNanos >= 0;
  }

  /** Moves on to the current window; returns by how many, from 0. */
  long roll(long now) {
    if (!isKnown() || now - overByNanos < 0) {
      return 0;
    }
    long drift = MonotonicSpan.drift(lengthNanos);
    long windows = 1 + (now - overByNanos) / (lengthNanos + drift); // at once, as if one by one
    endMillis += windows * lengthMillis;
    lastsUntilNanos += windows * (lengthNanos - drift);
    overByNanos += windows * (lengthNanos + drift);
    return windows;
  }

  /**
   * Moves on to the window of an answer, if that is a newer one.
   *
   * @param ahead whether the lease was for the next window, which need not have begun
   * @return by how many windows this moved on, from 0
   */
  long follow(LeaseGrant leased, boolean ahead, long sent, long answered) {
    long end = leased.windowEndMillis();
    long windows = isKnown() ? (end - endMillis) / lengthMillis : 0;
    if (isKnown() && windows <= (ahead ? 1 : 0)) {
      return 0;
    }
    endMillis = end;
    lastsUntilNanos = lastsUntil(leased.lastsMillis(), sent);
    overByNanos = overBy(leased.endsWithinMillis(), answered);
    return windows;
  }

  /** Narrows the end of this window by an answer for this window or the next. */
  void narrow(LeaseGrant leased, long sent, long answered) {
    long later = leased.windowEndMillis() - endMillis;
    long notBefore = lastsUntil(leased.lastsMillis() - later, sent);
    long notAfter = overBy(leased.endsWithinMillis() - later, answered);
    // Max and min by differences, because monotonic times can overflow.
    lastsUntilNanos += Math.max(0, notBefore - lastsUntilNanos);
    overByNanos += Math.min(0, notAfter - overByNanos);
    // the remote clock was stepped, or another server has taken over
    if (lastsUntilNanos - overByNanos > 0) {
      lastsUntilNanos = notBefore;
      overByNanos = notAfter;
    }
  }

  @Override
  public String toString() {
    return "%d until %d to %d".formatted(endMillis, lastsUntilNanos, overByNanos);
  }

  private static long lastsUntil(long millis, long sent) {
    long nanos = MonotonicSpan.nanos(millis);
    return sent + nanos - LeaseCell.ROUNDING_NANOS - MonotonicSpan.drift(nanos);
  }

  private static long overBy(long millis, long answered) {
    long nanos = MonotonicSpan.nanos(millis);
    return answered + nanos + MonotonicSpan.drift(nanos);
  }
}
