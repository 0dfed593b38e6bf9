package io.throttlekit.bench;

import java.time.Duration;

/**
 * When a load ends: at whichever comes first.
 *
 * @param requests at most so many, from 1
 * @param time at most so long, up to one hour
 */
record Bounds(long requests, Duration time) {

  /** The longest that a load may last. */
  static final Duration LONGEST = Duration.ofHours(1);

  Bounds {
    if (requests < 1 || !time.isPositive() || time.compareTo(LONGEST) > 0) {
      throw new IllegalArgumentException(
          "a load has at least one request and lasts at most "
              + LONGEST
              + ", was "
              + requests
              + ", "
              + time);
    }
  }

  /** Limited by time alone. */
  static Bounds lasting(Duration time) {
    return new Bounds(Long.MAX_VALUE, time);
  }
}
