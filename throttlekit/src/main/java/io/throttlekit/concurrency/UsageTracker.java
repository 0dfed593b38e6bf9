package io.throttlekit.concurrency;

import io.throttlekit.TimeSource;
import java.util.Arrays;
import java.util.LinkedHashMap;

/**
 * How much each user has used lately, and so which level its requests have among those of the same
 * priority: whoever used most has the lowest, so that its requests are refused first.
 *
 * <p>Keeps as many users as it is allowed, those who used something last, and none for longer than
 * two windows after its last usage. Thread-safe.
 */
public final class UsageTracker {
  private static final int SLICES = 30;

  private final TimeSource time;
  private final long windowNanos;
  private final int maxUsers;

  /** Guarded by this; who used something last is last. */
  private final LinkedHashMap<String, User> users = new LinkedHashMap<>();

  private static final class User {
    private final UsageWindow window;
    private long lastNanos;

    /** What part of the users used less, from 0 to 1; negative until that is known. */
    private double quantile = -1;

    User(UsageWindow window) {
      this.window = window;
    }
  }

  /**
   * Knows nobody yet.
   *
   * @param windowNanos for how long usage counts, from 30
   * @param maxUsers how many users it knows at most, from 1
   * @throws IllegalArgumentException when a number is out of range
   */
  public UsageTracker(TimeSource time, long windowNanos, int maxUsers) {
    if (windowNanos < SLICES || windowNanos > Long.MAX_VALUE / 4 || maxUsers < 1) {
      throw new IllegalArgumentException(
          "windowNanos must be from 30 to 2^61 and maxUsers at least 1, were "
              + windowNanos
              + " and "
              + maxUsers);
    }
    this.time = time;
    this.windowNanos = windowNanos;
    this.maxUsers = maxUsers;
  }

  /**
   * Counts what {@code user} used.
   *
   * @param usage from 0: the ns that it held a permit, or whatever else is dear
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

  /** What {@code user} has used lately; 0 for one who is not known. */
  public synchronized long usage(String user) {
    User known = users.get(user);
    return known == null ? 0 : known.window.total(time.monotonicNanos());
  }

  /**
   * The level of a request of {@code user}: the highest of its priority for one who is not known,
   * has used nothing lately or came after the last {@link #calibrate}.
   */
  public synchronized int level(String user, Priority priority) {
    User known = users.get(user);
    if (known == null || known.quantile < 0 || known.window.total(time.monotonicNanos()) == 0) {
      return priority.highest();
    }
    int above = priority.highest() - priority.lowest();
    return priority.lowest() + (int) (above * (1 - known.quantile));
  }

  /**
   * Compares the users with each other. Sorts as many numbers as there are users, while others may
   * use this.
   */
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

  /** What users have used lately, but for those who used nothing; forgets who is long gone. */
  private synchronized long[] usages(long now) {
    users
        .values()
        .removeIf(user -> user.window.total(now) == 0 && now - user.lastNanos > 2 * windowNanos);
    return users.values().stream()
        .mapToLong(user -> user.window.total(now))
        .filter(usage -> usage > 0)
        .toArray();
  }

  /** How many users are known. */
  public synchronized int size() {
    return users.size();
  }

  /** What part of {@code sorted} is less than {@code usage}, in hundredths. */
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
