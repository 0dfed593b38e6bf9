package io.throttlekit.limiter;

import io.throttlekit.TimeSource;
import java.util.Arrays;
import java.util.LinkedHashMap;

/**
 * The recent usage of each user, from which the levels of its requests within their priority
 * follow: the users with the highest usage get the lowest levels, and are refused first.
 *
 * <p>Keeps up to a maximum of users, evicts the least recently active one, and removes a user two
 * windows after its last usage. Thread-safe.
 */
public final class UsageTracker {
  /** Usage expires in steps of a thirtieth of the window. */
  private static final int SLICES = 30;

  private final TimeSource time;
  private final long windowNanos;
  private final int maxUsers;

  /** Guarded by this; in the order of their last usage. */
  final LinkedHashMap<String, User> users = new LinkedHashMap<>();

  static final class User {
    private final UsageWindow window;
    private long lastNanos;

    /** The share of users that used less, from 0 to 1; negative until the first calibration. */
    private double quantile = -1;

    User(UsageWindow window) {
      this.window = window;
    }
  }

  /**
   * Creates a tracker without users.
   *
   * @param windowNanos span over which usage is summed, from 30
   * @param maxUsers maximum number of users, from 1
   * @throws IllegalArgumentException when a number is out of range
   */
  public UsageTracker(TimeSource time, long windowNanos, int maxUsers) {
    // A slice lasts at least 1 ns, and 2 · windowNanos must not overflow.
    if (windowNanos < SLICES || windowNanos > Long.MAX_VALUE / 4 || maxUsers < 1) {
      throw new IllegalArgumentException(
          "windowNanos must be from 30 to 2^61 and maxUsers at least 1, were %s and %s"
              .formatted(windowNanos, maxUsers));
    }
    this.time = time;
    this.windowNanos = windowNanos;
    this.maxUsers = maxUsers;
  }

  /**
   * Adds to the usage of {@code user}.
   *
   * @param usage from 0: ns for which it held a permit, or any other cost
   */
  public synchronized void used(String user, long usage) {
    long now = time.monotonicNanos();
    User known = users.get(user);
    if (known == null) {
      if (users.size() == maxUsers) {
        users.pollFirstEntry();
      }
      known = new User(new UsageWindow(SLICES, windowNanos / SLICES, now));
    }
    users.putLast(user, known);
    known.lastNanos = now;
    known.window.add(usage, now);
  }

  /** Returns the recent usage of {@code user}; 0 for an unknown one. */
  public synchronized long usage(String user) {
    User known = users.get(user);
    return known == null ? 0 : known.window.total(time.monotonicNanos());
  }

  /**
   * Returns the level of a request of {@code user}: the highest of its priority for a user that is
   * unknown, has no recent usage, or was added after the last {@link #calibrate}.
   */
  public synchronized int level(String user, Priority priority) {
    User known = users.get(user);
    if (known == null || known.quantile < 0 || known.window.total(time.monotonicNanos()) == 0) {
      return priority.highest();
    }
    int above = priority.highest() - priority.lowest();
    return priority.lowest() + (int) (above * (1 - known.quantile));
  }

  /** Ranks the users by usage. Sorts one number per user, without holding the lock meanwhile. */
  public void calibrate() {
    long now = time.monotonicNanos();
    long[] usages = usages(now);
    Arrays.sort(usages);
    synchronized (this) {
      for (User user : users.values()) {
        long usage = user.window.total(now);
        user.quantile = usage > 0 ? quantile(usage, usages) : -1;
      }
    }
  }

  /** Returns the recent usages above 0, and removes users that have been idle for two windows. */
  private synchronized long[] usages(long now) {
    users
        .values()
        .removeIf(user -> user.window.total(now) == 0 && now - user.lastNanos > 2 * windowNanos);
    return users.values().stream()
        .mapToLong(user -> user.window.total(now))
        .filter(usage -> usage > 0)
        .toArray();
  }

  /** Returns the share of {@code sorted} that is less than {@code usage}, in hundredths. */
  static double quantile(long usage, long[] sorted) {
    if (sorted.length == 0) {
      return 0;
    }
    int less = 0;
    int end = sorted.length;
    while (less < end) {
      int middle = (less + end) >>> 1;
      if (sorted[middle] < usage) {
        less = middle + 1;
      } else {
        end = middle;
      }
    }
    return Math.round(100.0 * less / sorted.length) / 100.0;
  }
}
