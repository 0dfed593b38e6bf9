package io.throttlekit.concurrency;

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

  private final int lowest;

  Priority(int lowest) {
    this.lowest = lowest;
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
