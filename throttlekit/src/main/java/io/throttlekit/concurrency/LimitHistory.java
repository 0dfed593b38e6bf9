package io.throttlekit.concurrency;

import java.util.concurrent.TimeUnit;

/**
 * Remembers which limits were in effect when the requests of a window began. A late access log
 * reports requests that began under an earlier limit. Keeps the last few limits; times are
 * monotonic ns. Not thread-safe.
 */
final class LimitHistory {
  /** Limits that are remembered, in a ring buffer. */
  private static final int REMEMBERED = 16;

  /**
   * Changes closer together than this replace each other. The limits remembered then span 4 s,
   * longer than an access log is late.
   */
  private static final long CLOSELY_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final long[] since = new long[REMEMBERED];
  private final int[] limits = new int[REMEMBERED];
  private int latest;
  private int known = 1;
  private long sum;
  private int requests;

  /**
   * Creates a history in which every request that began before the first {@link #obeyed} began
   * below {@code first}.
   */
  LimitHistory(int first) {
    limits[0] = first;
  }

  /**
   * Adds a limit that is in effect from {@code sinceNanos} on. Of changes that follow each other
   * closely, only the last is kept.
   */
  void obeyed(int limit, long sinceNanos) {
    // The first limit has no start time, and is never replaced.
    if (known > 1 && sinceNanos - since[latest] < CLOSELY_NANOS) {
      limits[latest] = limit;
    } else if (limits[latest] != limit) {
      latest = (latest + 1) % REMEMBERED;
      since[latest] = sinceNanos;
      limits[latest] = limit;
      known = Math.min(known + 1, REMEMBERED);
    }
  }

  /** Returns the limit in effect now. */
  int latest() {
    return limits[latest];
  }

  /** Counts a request that began at {@code nanos}. */
  void began(long nanos) {
    int at = latest;
    for (int earlier = known - 1; earlier > 0 && nanos - since[at] < 0; earlier--) {
      at = (at + REMEMBERED - 1) % REMEMBERED;
    }
    sum += limits[at];
    requests++;
  }

  /**
   * Returns the mean limit over the requests of the window, or the latest limit if there were none.
   */
  double mean() {
    return requests == 0 ? latest() : (double) sum / requests;
  }

  /** Starts the next window. */
  void next() {
    sum = 0;
    requests = 0;
  }
}
