package io.throttlekit.concurrency;

import java.util.concurrent.TimeUnit;

/**
 * Below which ceilings the requests of a window began. Where a log is late, that is not the one
 * that is obeyed when they are heard of. Remembers the last few ceilings; times are monotonic ns.
 * Called by one thread at a time.
 */
final class ObeyedCeilings {
  private static final int REMEMBERED = 16;

  /** With as many as are remembered, longer than a log is late. */
  private static final long CLOSELY_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

  private final long[] since = new long[REMEMBERED];
  private final int[] ceilings = new int[REMEMBERED];
  private int latest;
  private int known = 1;
  private long sum;
  private int requests;

  /** Whatever began before another is obeyed began below this one. */
  ObeyedCeilings(int first) {
    ceilings[0] = first;
  }

  /** From some time on another is obeyed; of those that follow closely, the last is remembered. */
  void obeyed(int ceiling, long sinceNanos) {
    if (known > 1 && sinceNanos - since[latest] < CLOSELY_NANOS) {
      ceilings[latest] = ceiling;
    } else if (ceilings[latest] != ceiling) {
      latest = (latest + 1) % REMEMBERED;
      since[latest] = sinceNanos;
      ceilings[latest] = ceiling;
      known = Math.min(known + 1, REMEMBERED);
    }
  }

  /** The one that is obeyed now. */
  int latest() {
    return ceilings[latest];
  }

  /** Counts a request in that began then. */
  void began(long nanos) {
    int at = latest;
    for (int earlier = known - 1; earlier > 0 && nanos - since[at] < 0; earlier--) {
      at = (at + REMEMBERED - 1) % REMEMBERED;
    }
    sum += ceilings[at];
    requests++;
  }

  /** The mean over the requests of the window; of none, the one that is obeyed. */
  double mean() {
    return requests == 0 ? latest() : (double) sum / requests;
  }

  /** Begins the next window. */
  void next() {
    sum = 0;
    requests = 0;
  }
}
