package io.throttlekit.bench.command;

import java.time.Duration;

/**
 * Bounds of a load, which ends at the first of them.
 *
 * @param requests maximum number of requests, from 1
 * @param time maximum duration, up to one hour
 */
public record Bounds(long requests, Duration time) {

  /** Maximum duration of a load. */
  static final Duration MAX_TIME = Duration.ofHours(1);

  public Bounds {
    if (requests < 1 || !time.isPositive() || time.compareTo(MAX_TIME) > 0) {
      throw new IllegalArgumentException(
          "a load has at least one request and lasts at most "
              + MAX_TIME
              + ", was "
              + requests
              + ", "
              + time);
    }
  }

  /** Returns bounds with a limit of time only. */
  public static Bounds lasting(Duration time) {
    return new Bounds(Long.MAX_VALUE, time);
  }
}
