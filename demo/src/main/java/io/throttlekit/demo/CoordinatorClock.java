package io.throttlekit.demo;

import io.throttlekit.TimeSource;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.List;

/**
 * What the coordinator's own clock says, as exactly as can be told from outside: between two
 * bounds, since its answer was given at some time between the question and the answer.
 *
 * <p>{@link #ask} at least once a second keeps the bounds close. Thread-safe.
 */
final class CoordinatorClock {
  private static final long NANOS_PER_MICRO = 1_000;

  /** What two clocks that run alike come apart between two questions, and more. */
  private static final long DRIFT_MICROS = 1_000;

  private final RedisProcess coordinator;
  private final TimeSource time;
  private volatile Reading newest;

  /**
   * Of all instants between {@code asked} and {@code answered}, in ns of this process, one was
   * {@code micros} there.
   */
  private record Reading(long asked, long answered, long micros) {}

  CoordinatorClock(RedisProcess coordinator, TimeSource time) {
    this.coordinator = coordinator;
    this.time = time;
    this.newest = read();
  }

  /** Asks again what time it is there. */
  void ask() {
    newest = read();
  }

  /** The time there is this or later, in µs since the epoch. */
  long earliestMicros(long nanos) {
    Reading reading = newest;
    return reading.micros()
        + Math.floorDiv(nanos - reading.answered(), NANOS_PER_MICRO)
        - DRIFT_MICROS;
  }

  /** The time there is this or earlier, in µs since the epoch. */
  long latestMicros(long nanos) {
    Reading reading = newest;
    return reading.micros() + Math.ceilDiv(nanos - reading.asked(), NANOS_PER_MICRO) + DRIFT_MICROS;
  }

  /** About what time it is there, in ms since the epoch. */
  long aboutMillis() {
    long now = time.monotonicNanos();
    return (earliestMicros(now) + latestMicros(now)) / 2_000;
  }

  private Reading read() {
    long asked = time.monotonicNanos();
    List<String> parts = coordinator.command("TIME").lines().toList();
    long answered = time.monotonicNanos();
    long micros = Long.parseLong(parts.getFirst()) * 1_000_000 + Long.parseLong(parts.getLast());
    return new Reading(asked, answered, micros);
  }
}
