package io.throttlekit.service.concurrency;

import io.throttlekit.limiter.Prioritizer;
import io.throttlekit.limiter.Priority;
import org.jspecify.annotations.Nullable;

/** Parses the priority of a request. */
final class Levels {
  private Levels() {}

  /**
   * Returns the level that {@code text} contains, or a level of the priority that it names; a level
   * of {@code MEDIUM} if it is neither.
   *
   * @param user by whose usage the level within the priority is chosen; null for a random one
   */
  static int of(@Nullable String text, @Nullable String user, Prioritizer prioritizer) {
    int level = text == null ? -1 : Priority.level(text);
    if (level >= 0) {
      return level;
    }
    Priority named = text == null ? null : Priority.named(text);
    Priority priority = named == null ? Priority.MEDIUM : named;
    return user == null ? prioritizer.level(priority) : prioritizer.level(priority, user);
  }
}
