package io.throttlekit.limiter;

/** The distribution of the levels of recent requests. Thread-safe; a level is added in O(1). */
final class LevelTracker {
  private final int[] recent;
  private final int[] counts = new int[Priority.MAX_LEVEL + 1];
  private int next;
  private int size;

  /**
   * @param window number of levels that count, from 1
   */
  LevelTracker(int window) {
    this.recent = new int[window];
  }

  synchronized void add(int level) {
    if (size == recent.length) {
      counts[recent[next]]--;
    } else {
      size++;
    }
    recent[next] = level;
    counts[level]++;
    next = (next + 1) % recent.length;
  }

  /**
   * Returns the lowest level that at least the share {@code quantile} of the levels does not
   * exceed; 0 if there are none.
   *
   * @param quantile from 0 to 1
   */
  synchronized int quantile(double quantile) {
    int wanted = Math.max(1, (int) Math.ceil(size * quantile));
    int upTo = 0;
    for (int level = 0; level < counts.length; level++) {
      upTo += counts[level];
      if (upTo >= wanted) {
        return level;
      }
    }
    return 0;
  }
}
