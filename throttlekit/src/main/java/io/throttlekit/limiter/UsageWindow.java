package io.throttlekit.limiter;

/** The usage of the last while, in slices that expire one by one. Not thread-safe. */
final class UsageWindow {
  private final long[] slices;
  private final long sliceNanos;
  private long newest;
  private long total;

  /**
   * @param sliceNanos from 1
   */
  UsageWindow(int slices, long sliceNanos, long nowNanos) {
    this.slices = new long[slices];
    this.sliceNanos = sliceNanos;
    this.newest = Math.floorDiv(nowNanos, sliceNanos);
  }

  void add(long usage, long nowNanos) {
    advance(nowNanos);
    slices[Math.floorMod(newest, slices.length)] += usage;
    total += usage;
  }

  long total(long nowNanos) {
    advance(nowNanos);
    return total;
  }

  private void advance(long nowNanos) {
    long now = Math.floorDiv(nowNanos, sliceNanos);
    // After a long pause each slice is cleared once; time that runs backwards clears none.
    long passed = Math.clamp(now - newest, 0, (long) slices.length);
    for (long slice = now - passed + 1; slice <= now; slice++) {
      int at = Math.floorMod(slice, slices.length);
      total -= slices[at];
      slices[at] = 0;
    }
    newest = Math.max(newest, now);
  }
}
