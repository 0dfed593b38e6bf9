package io.throttlekit.store;

import com.github.benmanes.caffeine.cache.Expiry;
import io.throttlekit.CounterKey;
import java.util.concurrent.TimeUnit;

/**
 * The expiry of counters: each outlives what it counts, and leaves by itself once it is unused.
 *
 * <p>A counter is kept for a slack of one window (1 s to 1 min) after the time at which it becomes
 * unused. Its expiry is moved only when less than half the slack would be left, so most charges
 * reschedule nothing.
 */
final class Lifetime implements Expiry<CounterKey, Counter> {
  /** The shortest slack: wall clocks that step back less than this find their counters. */
  private static final long MIN_SLACK_MILLIS = 1_000;

  /** The longest slack: longer ones would only take memory. */
  private static final long MAX_SLACK_MILLIS = 60_000;

  /**
   * After a read, a counter is kept for at least this long, until its charge has moved the expiry.
   */
  private static final long GRACE_NANOS = TimeUnit.MILLISECONDS.toNanos(MIN_SLACK_MILLIS / 2);

  /** Returns the first expiry of a counter whose window is {@code windowMillis}. */
  static long firstDate(long nowMillis, long windowMillis) {
    return nowMillis + windowMillis + slack(windowMillis);
  }

  /** Moves the expiry beyond {@code wholeAtMillis} if needed; returns whether it did. */
  static boolean extend(Counter counter, long wholeAtMillis, long windowMillis) {
    long slack = slack(windowMillis);
    if (wholeAtMillis <= counter.keptUntilMillis() - slack / 2) {
      return false;
    }
    counter.keepUntil(wholeAtMillis + slack);
    return true;
  }

  private static long slack(long windowMillis) {
    return Math.clamp(windowMillis, MIN_SLACK_MILLIS, MAX_SLACK_MILLIS);
  }

  @Override
  public long expireAfterCreate(CounterKey key, Counter counter, long nowNanos) {
    return TimeUnit.MILLISECONDS.toNanos(firstDate(0, counter.algorithm().windowMillis()));
  }

  @Override
  public long expireAfterUpdate(CounterKey key, Counter counter, long nowNanos, long leftNanos) {
    return leftNanos;
  }

  @Override
  public long expireAfterRead(CounterKey key, Counter counter, long nowNanos, long leftNanos) {
    return Math.max(leftNanos, GRACE_NANOS);
  }
}
