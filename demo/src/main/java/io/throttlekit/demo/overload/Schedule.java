package io.throttlekit.demo.overload;

import java.util.List;

/**
 * Phases of the same length, one after the other.
 *
 * <p>What counts of each is its last minute, or of a short one its last two thirds: what is before
 * belongs to finding out.
 *
 * @param phases one at least
 * @param length of each, in s, from {@link #SHORTEST}
 */
record Schedule(List<Phase> phases, int length) {
  static final int SHORTEST = 10;

  /** Time enough for a last minute, and half of one to find out. */
  static final int USUAL = 90;

  private static final int COUNTED = 60;

  /**
   * @throws IllegalArgumentException in words for people, when there is none, or not time enough
   */
  Schedule {
    phases = List.copyOf(phases);
    if (phases.isEmpty() || length < SHORTEST) {
      throw new IllegalArgumentException(
          "each of %d phases takes %d s at least".formatted(phases.size(), SHORTEST));
    }
  }

  /** All of it, in s. */
  int seconds() {
    return phases.size() * length;
  }

  /** Which phase a second belongs to, by its place; those after the end have none, but a number. */
  int place(int second) {
    return second / length;
  }

  /** The phase of a second before the end. */
  Phase at(int second) {
    return phases.get(place(second));
  }

  /** The first second of a phase that counts. */
  int countedFrom(int place) {
    return end(place) - counted();
  }

  /** The first second after a phase. */
  int end(int place) {
    return (place + 1) * length;
  }

  /** How many seconds of each phase count. */
  int counted() {
    return Math.min(COUNTED, length * 2 / 3);
  }
}
