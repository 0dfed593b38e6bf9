package io.throttlekit.federation;

import static io.throttlekit.MonotonicSpan.NANOS_PER_MILLI;

import io.throttlekit.MonotonicSpan;

/**
 * A reading of a remote clock, taken between two times of this process. It bounds the times at
 * which that clock reaches another reading; the bounds widen with the distance from the reading,
 * because two clocks drift apart ({@link MonotonicSpan#drift}). Distances are capped at a hundred
 * years.
 *
 * @param farMillis the reading, rounded down, in ms since the epoch
 * @param sentNanos when it was requested, in monotonic ns of this process
 * @param answeredNanos when the answer arrived, in the same ns, no earlier
 */
record ClockReading(long farMillis, long sentNanos, long answeredNanos) {
  /** Returns until when, in ns of this process, that clock is certainly before {@code millis}. */
  long surelyBefore(long millis) {
    long nanos = MonotonicSpan.nanos(millis - farMillis - 1); // 1 ms: the reading was rounded down
    return sentNanos + nanos - MonotonicSpan.drift(nanos);
  }

  /**
   * Returns from when on, in ns of this process, that clock has certainly reached {@code millis}.
   */
  long surelyReached(long millis) {
    long nanos = MonotonicSpan.nanos(millis - farMillis);
    return answeredNanos + nanos + MonotonicSpan.drift(nanos);
  }

  /** Returns the earliest reading of that clock at {@code nanos} of this process, rounded down. */
  long earliestMillis(long nanos) {
    long since = nanos - answeredNanos;
    return farMillis + Math.floorDiv(since - MonotonicSpan.drift(since), NANOS_PER_MILLI);
  }

  /** Returns the latest reading of that clock at {@code nanos} of this process, rounded up. */
  long latestMillis(long nanos) {
    long since = nanos - sentNanos;
    // 1 ms: the reading was rounded down
    return farMillis + 1 + Math.ceilDiv(since + MonotonicSpan.drift(since), NANOS_PER_MILLI);
  }
}
