package io.throttlekit.federation;

import static io.throttlekit.MonotonicSpan.NANOS_PER_MILLI;

import io.throttlekit.ClockDrift;
import io.throttlekit.MonotonicSpan;

/**
 * What a clock far away said once, and between which two times of this process it did. It says
 * when, at the earliest and at the latest, that clock reads something else; the further from the
 * reading, the less surely, for two clocks drift apart ({@link ClockDrift}). More than a hundred
 * years are a hundred years: no process lives long enough to see the difference.
 *
 * @param farMillis what it read, rounded down, in ms since the epoch
 * @param askedNanos monotonic ns of this process
 * @param answeredNanos the same, no earlier
 */
record ClockReading(long farMillis, long askedNanos, long answeredNanos) {
  /** Until when, by this process, that clock is surely before {@code millis}. */
  long surelyBefore(long millis) {
    long nanos = MonotonicSpan.nanos(millis - farMillis - 1);
    return askedNanos + nanos - ClockDrift.after(nanos);
  }

  /** From when on, by this process, that clock has surely reached {@code millis}. */
  long surelyReached(long millis) {
    long nanos = MonotonicSpan.nanos(millis - farMillis);
    return answeredNanos + nanos + ClockDrift.after(nanos);
  }

  /** The least that that clock reads at {@code nanos} of this process, rounded down. */
  long earliestMillis(long nanos) {
    long since = nanos - answeredNanos;
    return farMillis + Math.floorDiv(since - ClockDrift.after(since), NANOS_PER_MILLI);
  }

  /** The most that that clock reads at {@code nanos} of this process, rounded up. */
  long latestMillis(long nanos) {
    long since = nanos - askedNanos;
    return farMillis + 1 + Math.ceilDiv(since + ClockDrift.after(since), NANOS_PER_MILLI);
  }
}
