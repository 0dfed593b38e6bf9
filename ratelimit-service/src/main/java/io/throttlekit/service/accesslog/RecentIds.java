package io.throttlekit.service.accesslog;

import java.util.LinkedHashSet;
import java.util.SequencedSet;

/**
 * Remembers the last of what it was shown. Thread-safe; whoever asks waits at most for a few others
 * who do the same.
 */
final class RecentIds {
  private static final int LINES = 16;

  private final int mostOfLine;
  private final SequencedSet<Object>[] lines;

  /**
   * @param most how many it remembers, about; from 16
   */
  RecentIds(int most) {
    this.mostOfLine = most / LINES;
    this.lines = lines();
  }

  /** Whether this is new, as far as it remembers; from now on it is not. */
  boolean isNew(Object id) {
    int hash = id.hashCode();
    SequencedSet<Object> line = lines[(hash ^ hash >>> 16) & (LINES - 1)];
    synchronized (line) {
      if (!line.add(id)) {
        return false;
      }
      if (line.size() > mostOfLine) {
        line.removeFirst();
      }
      return true;
    }
  }

  @SuppressWarnings({"unchecked", "rawtypes"}) // no array of a generic type can be made
  private static SequencedSet<Object>[] lines() {
    SequencedSet<Object>[] lines = new SequencedSet[LINES];
    for (int i = 0; i < LINES; i++) {
      lines[i] = new LinkedHashSet<>();
    }
    return lines;
  }
}
