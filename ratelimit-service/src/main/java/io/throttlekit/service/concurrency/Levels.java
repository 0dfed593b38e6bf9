package io.throttlekit.service.concurrency;

import io.throttlekit.concurrency.Prioritizer;
import io.throttlekit.concurrency.Priority;
import org.jspecify.annotations.Nullable;

/** Parses the priority of a request. */
final class Levels {
  private Levels() {}

  /**
   * Returns the level that {@code text} contains, or a level of the priority that it names; a level
   * of {@code MEDIUM} if it is neither.
   */
  static int of(@Nullable String text, Prioritizer prioritizer) {
    int level = text == null ? -1 : Priority.level(text);
    Priority named = text == null ? null : Priority.named(text);
    return level >= 0 ? level : prioritizer.level(named == null ? Priority.MEDIUM : named);
  }
}
