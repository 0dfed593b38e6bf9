package io.throttlekit.limit;

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
  private static final long RESOLUTION_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  /**
   * A limit that is not acknowledged within this time never will be; access logs may be as late.
   */
  private static final long MAX_DELAY_NANOS = TimeUnit.SECONDS.toNanos(5);

  private final long[] since = new long[REMEMBERED];
  private final int[] limits = new int[REMEMBERED];
  private int latest;
  private int known = 1;
  private long sum;
  private int requests;
  private boolean acknowledges;
  private int published;
  private long publishedNanos;
  private double usableShare = 1;

  /** Creates a history in which every request began below {@code first} until the first change. */
  LimitHistory(int first) {
    limits[0] = first;
  }

  /**
   * Adds a limit that limiters acknowledged, in effect from {@code sinceNanos} on. Of changes that
   * follow each other closely, only the last is kept.
   */
  void acknowledged(int limit, long sinceNanos) {
    acknowledges = true;
    add(limit, sinceNanos);
  }

  /** Adds the current limit, unless limiters acknowledge limits: else it is in effect at once. */
  void applied(int limit, long nowNanos) {
    if (!acknowledges) {
      add(limit, nowNanos);
    }
  }

  /** Returns whether limiters have ever acknowledged a limit. */
  boolean acknowledges() {
    return acknowledges;
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

  /**
   * Returns the part of a full limit that limiters apply, now or soon. Some may never acknowledge,
   * and their slots remain unused.
   *
   * @param limit current limit
   */
  double usable(int limit, long nowNanos) {
    if (published != limit) {
      published = limit;
      publishedNanos = nowNanos;
    }
    double share = Math.min(1, mean() / limit);
    if (acknowledges && nowNanos - publishedNanos >= MAX_DELAY_NANOS) {
      usableShare = share;
      return mean();
    }
    usableShare = Math.max(usableShare, share);
    return limit * usableShare;
  }

  /** Treats the current limit as published anew: limiters have yet to raise it again. */
  void restart() {
    published = 0;
  }

  private void add(int limit, long sinceNanos) {
    // The first limit has no start time, and is never replaced.
    if (known > 1 && sinceNanos - since[latest] < RESOLUTION_NANOS) {
      limits[latest] = limit;
    } else if (limits[latest] != limit) {
      latest = (latest + 1) % REMEMBERED;
      since[latest] = sinceNanos;
      limits[latest] = limit;
      known = Math.min(known + 1, REMEMBERED);
    }
  }
}
