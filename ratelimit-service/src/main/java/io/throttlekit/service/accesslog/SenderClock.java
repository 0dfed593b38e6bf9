package io.throttlekit.service.accesslog;

import java.util.concurrent.TimeUnit;

/**
 * Tells by the clock of this process when something happened that a sender dates by its own.
 *
 * <p>What comes soonest after it happened tells how the two clocks differ, up to the time that it
 * took to come; that difference is remembered for one to two minutes, so that clocks that drift are
 * followed. By how much a sender's clock is wrong does not matter, nor that it is set meanwhile:
 * forward at once, and backward by the next that would have come impossibly late.
 *
 * <p>For one thread.
 */
final class SenderClock {
  private static final long PERIOD_NANOS = TimeUnit.MINUTES.toNanos(1);

  /** Nothing comes later than this; logs are flushed every second or so. */
  private static final long LATEST_NANOS = TimeUnit.SECONDS.toNanos(30);

  private boolean began;
  private long periodNanos;
  private long leastBefore;
  private long leastNow;

  /**
   * When it happened, as well as can be told; never after {@code arrivedNanos}.
   *
   * @param saidNanos by the sender's clock, from 0
   */
  long happenedNanos(long saidNanos, long arrivedNanos) {
    long difference = arrivedNanos - saidNanos;
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
