package io.throttlekit.federation;

/**
 * What a process knows of a clock far away: between which two of its own times that reads what.
 * Each answer that carries the far clock narrows the bounds; time widens them again, as fast as two
 * clocks can drift apart. Thread-safe. Times are monotonic ns, those of the far clock ms.
 */
final class ClockBounds {
  private static final long NANOS_PER_MILLI = 1_000_000;

  /**
   * A clock that is being corrected runs fast or slow by at most 500 in a million, and so may two.
   */
  private static final long DRIFT_PARTS = 1_000;

  /** The far clock in ns less ours, at {@link #learntNanos}: at least, at most. */
  private long low;

  private long high;
  private long learntNanos;
  private boolean known;

  /**
   * Learns from an answer.
   *
   * @param farMillis the far clock when it was read, rounded down
   */
  synchronized void learn(long farMillis, long askedNanos, long answeredNanos) {
    long far = farMillis * NANOS_PER_MILLI;
    long newLow = far - answeredNanos;
    long newHigh = far + NANOS_PER_MILLI - askedNanos;
    if (known) {
      long drift = drift(answeredNanos - learntNanos);
      long bothLow = Math.max(newLow, low - drift);
      long bothHigh = Math.min(newHigh, high + drift);
      if (bothLow <= bothHigh) {
        newLow = bothLow;
        newHigh = bothHigh;
      } // else it was set, or another one has taken over
    }
    low = newLow;
    high = newHigh;
    learntNanos = answeredNanos;
    known = true;
  }

  /** Whether anything was learnt. */
  synchronized boolean isKnown() {
    return known;
  }

  /** Until when the far clock is surely before {@code farMillis}. */
  synchronized long surelyBefore(long farMillis) {
    long at = farMillis * NANOS_PER_MILLI - high;
    return at - drift(at - learntNanos);
  }

  /** From when on the far clock has surely reached {@code farMillis}. */
  synchronized long surelyReached(long farMillis) {
    long at = farMillis * NANOS_PER_MILLI - low;
    return at + drift(at - learntNanos);
  }

  /** The least that the far clock may read, in ms, rounded down. */
  synchronized long earliestMillis(long nowNanos) {
    long far = nowNanos + low - drift(nowNanos - learntNanos);
    return Math.floorDiv(far, NANOS_PER_MILLI);
  }

  private static long drift(long nanos) {
    return Math.abs(nanos) / DRIFT_PARTS;
  }
}
