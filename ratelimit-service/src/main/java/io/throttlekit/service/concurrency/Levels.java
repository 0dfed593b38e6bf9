package io.throttlekit.service.concurrency;

import io.throttlekit.concurrency.Prioritizer;
import io.throttlekit.concurrency.Priority;
import org.jspecify.annotations.Nullable;

/** Reads how important a request is. */
final class Levels {
  private Levels() {}

  /**
   * The level that {@code text} is, or one of the priority that it names; of a medium one when it
   * is neither.
   */
  static int of(@Nullable String text, Prioritizer prioritizer) {
    int level = text == null ? -1 : Priority.level(text);
    Priority named = text == null ? null : Priority.named(text);
    return level >= 0 ? level : prioritizer.level(named == null ? Priority.MEDIUM : named);
  }
}
