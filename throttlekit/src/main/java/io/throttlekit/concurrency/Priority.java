package io.throttlekit.concurrency;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * How important a request is, in words. Each is a range of a hundred levels, so that some of the
 * requests of one priority can be refused before others.
 */
public enum Priority {
  /** Levels 0 to 99. */
  VERY_LOW(0),
  /** Levels 100 to 199. */
  LOW(100),
  /** Levels 200 to 299. */
  MEDIUM(200),
  /** Levels 300 to 399. */
  HIGH(300),
  /** Levels 400 to 499. */
  VERY_HIGH(400);

  /** The highest level of all. */
  public static final int MAX_LEVEL = 499;

  private static final int LEVELS = 100;
  private static final int MOST_DIGITS = 3;

  private final int lowest;

  Priority(int lowest) {
    this.lowest = lowest;
  }

  /** The priority of this name, in small letters or any other; null when there is none. */
  public static @Nullable Priority named(String text) {
    return switch (text.toLowerCase(Locale.ROOT)) {
      case "very_low" -> VERY_LOW;
      case "low" -> LOW;
      case "medium" -> MEDIUM;
      case "high" -> HIGH;
      case "very_high" -> VERY_HIGH;
      default -> null;
    };
  }

  /** The level that the text is, in decimal digits; -1 when it is none. */
  public static int level(String text) {
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
    return number <= MAX_LEVEL ? number : -1;
  }

  /** Whether the text says how important a request is: by the name of a priority, or a level. */
  public static boolean isLevel(String text) {
    return level(text) >= 0 || named(text) != null;
  }

  /** Its lowest level. */
  public int lowest() {
    return lowest;
  }

  /** Its highest level. */
  public int highest() {
    return lowest + LEVELS - 1;
  }

  /**
   * One of its levels, each for an equally large part of the lots.
   *
   * @param lot from 0 to below 1
   */
  public int level(double lot) {
    return lowest + Math.clamp((int) (lot * LEVELS), 0, LEVELS - 1);
  }
}
