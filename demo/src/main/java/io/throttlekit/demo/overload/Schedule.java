package io.throttlekit.demo.overload;

import java.util.List;

/**
 * Phases of equal length, one after another.
 *
 * <p>Only the last minute of each phase counts, or the last two thirds of a short one: limits need
 * the time before to adapt.
 *
 * @param phases at least one
 * @param length of each, in s, from {@link #SHORTEST}
 */
record Schedule(List<Phase> phases, int length) {
  static final int SHORTEST = 10;

  /** A minute that counts, after half a minute to adapt. */
  static final int USUAL = 90;

  private static final int COUNTED = 60; // seconds, about one measurement of ours

  /**
   * @throws IllegalArgumentException with a message for users, if there is no phase, or too little
   *     time
   */
  Schedule {
    phases = List.copyOf(phases);
    if (phases.isEmpty() || length < SHORTEST) {
      throw new IllegalArgumentException(
          "each of %d phases takes %d s at least".formatted(phases.size(), SHORTEST));
    }
  }

  /** Returns the total duration in s. */
  int seconds() {
    return phases.size() * length;
  }

  /**
   * Returns the index of the phase of a second. After the end, indexes continue without a phase.
   */
  int place(int second) {
    return second / length;
  }

  /** Returns the phase of a second before the end. */
  Phase at(int second) {
    return phases.get(place(second));
  }

  /** Returns the first second of a phase that counts. */
  int countedFrom(int place) {
    return end(place) - counted();
  }

  /** Returns the first second after a phase. */
  int end(int place) {
    return (place + 1) * length;
  }

  /** Returns the number of seconds of each phase that count. */
  int counted() {
    return Math.min(COUNTED, length * 2 / 3);
  }
}
