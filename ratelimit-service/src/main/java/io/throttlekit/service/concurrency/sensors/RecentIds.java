package io.throttlekit.service.concurrency.sensors;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.stream.Stream;

/**
 * Set of the most recent ids. Thread-safe; divided into 16 locks, so callers seldom wait for each
 * other.
 */
final class RecentIds {
  // a power of two, as the mask requires
  private static final int LINES = 16;

  private final int maxPerLine;
  private final List<SequencedSet<Object>> lines;

  /**
   * @param max approximate number of ids to keep, from 16
   */
  RecentIds(int max) {
    this.maxPerLine = max / LINES;
    this.lines = Stream.<SequencedSet<Object>>generate(LinkedHashSet::new).limit(LINES).toList();
  }

  /** Adds an id and returns whether it was not in the set. */
  boolean isNew(Object id) {
    // the upper bits of a hash are mixed into the lower, which choose the lock
    int hash = id.hashCode();
    SequencedSet<Object> line = lines.get((hash ^ hash >>> 16) & (LINES - 1));
    synchronized (line) {
      if (!line.add(id)) {
        return false;
      }
      if (line.size() > maxPerLine) {
        line.removeFirst();
      }
      return true;
    }
  }
}
