package io.throttlekit.service.concurrency.sensors;

import java.util.concurrent.TimeUnit;

/**
 * Converts times of a sender's clock to the clock of this process.
 *
 * <p>The offset of the two clocks is the least difference between arrival and sender's time, which
 * includes the shortest delay. It is kept for one to two minutes, so that drift is followed. The
 * size of the offset does not matter. A clock set forward takes effect at once; a clock set
 * backward with the first event whose delay would be impossible.
 *
 * <p>For one thread.
 */
final class SenderClock {
  // long against the delays of a log, short against the drift of clocks
  private static final long PERIOD_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Longest possible delay; logs are flushed about every second. */
  private static final long LATEST_NANOS = TimeUnit.SECONDS.toNanos(30);

  private boolean began;
  private long periodNanos;
  private long leastBefore;
  private long leastNow;

  /**
   * Returns the estimated time of the event, never after {@code arrivedNanos}.
   *
   * @param statedNanos time by the sender's clock, from 0
   */
  long happenedNanos(long statedNanos, long arrivedNanos) {
    long difference = arrivedNanos - statedNanos;
    if (!began) {
      began = true;
      restart(difference, arrivedNanos);
    }
    if (arrivedNanos - periodNanos >= PERIOD_NANOS) {
      periodNanos = arrivedNanos;
      leastBefore = leastNow;
      leastNow = difference;
    }
    leastNow = less(leastNow, difference);
    long late = difference - less(leastBefore, leastNow);
    // the sender's clock was set back
    if (late > LATEST_NANOS) {
      restart(difference, arrivedNanos);
      late = 0;
    }
    return arrivedNanos - late;
  }

  private void restart(long difference, long arrivedNanos) {
    periodNanos = arrivedNanos;
    leastBefore = difference;
    leastNow = difference;
  }

  private static long less(long one, long other) {
    return one - other < 0 ? one : other; // overflow-safe
  }
}
