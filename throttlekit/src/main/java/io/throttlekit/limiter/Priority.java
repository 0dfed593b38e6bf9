package io.throttlekit.limiter;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The importance of a request, by name. Each priority is a range of a hundred levels, so that a
 * part of the requests of one priority can be refused.
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

  /** The highest level. */
  public static final int MAX_LEVEL = 499;

  private static final int LEVELS = 100; // of each priority
  private static final int MAX_DIGITS = 3; // of MAX_LEVEL; more could overflow

  private final int lowest;

  Priority(int lowest) {
    this.lowest = lowest;
  }

  /** Returns the priority of this name, case-insensitive, or null if there is none. */
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

  /** Parses a level in decimal digits. Returns -1 if the text is not a level. */
  public static int level(String text) {
    int number = text.isEmpty() || text.length() > MAX_DIGITS ? -1 : 0;
    for (int i = 0; i < text.length() && number >= 0; i++) {
      int digit = text.charAt(i) - '0';
      number = digit < 0 || digit > 9 ? -1 : number * 10 + digit;
    }
    return number <= MAX_LEVEL ? number : -1;
  }

  /** Returns whether the text is a level or the name of a priority. */
  public static boolean isLevel(String text) {
    return level(text) >= 0 || named(text) != null;
  }

  /** Returns the lowest level of this priority. */
  public int lowest() {
    return lowest;
  }

  /** Returns the highest level of this priority. */
  public int highest() {
    return lowest + LEVELS - 1;
  }

  /**
   * Returns a level of this priority, uniformly distributed over {@code lot}.
   *
   * @param lot random, from 0 to below 1
   */
  public int level(double lot) {
    return lowest + Math.clamp((int) (lot * LEVELS), 0, LEVELS - 1);
  }
}
