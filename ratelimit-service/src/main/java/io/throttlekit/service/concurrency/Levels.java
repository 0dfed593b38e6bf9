package io.throttlekit.service.concurrency;

import io.throttlekit.concurrency.Prioritizer;
import io.throttlekit.concurrency.Priority;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** Reads how important a request is. */
final class Levels {
  private static final int MOST_DIGITS = 3;

  private Levels() {}

  /**
   * The level that {@code text} is, or one of the priority that it names; of a medium one when it
   * is neither.
   */
  static int of(@Nullable String text, Prioritizer prioritizer) {
    int level = text == null ? -1 : number(text);
    return level >= 0 ? level : prioritizer.level(priority(text));
  }

  private static Priority priority(@Nullable String text) {
    return switch (text == null ? "" : text.toLowerCase(Locale.ROOT)) {
      case "very_low" -> Priority.VERY_LOW;
      case "low" -> Priority.LOW;
      case "high" -> Priority.HIGH;
      case "very_high" -> Priority.VERY_HIGH;
      default -> Priority.MEDIUM;
    };
  }

  private static int number(String text) {
    if (text.isEmpty() || text.length() > MOST_DIGITS) {
      return -1;
    }
    int number = 0;
    for (int i = 0; i < text.length(); i++) {
      int digit = text.charAt(i) - '0';
      if (digit < 0 || digit > 9) {
        return -1;
      }
      number = number * 10 + digit;
    }
    return number <= Priority.MAX_LEVEL ? number : -1;
  }
}
