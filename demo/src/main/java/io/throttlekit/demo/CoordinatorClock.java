package io.throttlekit.demo;

import io.throttlekit.TimeSource;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.List;

/**
 * Bounds of the coordinator's clock: its response was created at some time between request and
 * response.
 *
 * <p>{@link #poll} at least once a second keeps the bounds tight. Thread-safe.
 */
final class CoordinatorClock {
  private static final long NANOS_PER_MICRO = 1_000;

  /** More than the drift between two clocks from one reading to the next. */
  private static final long DRIFT_MICROS = 1_000;

  private final RedisProcess coordinator;
  private final TimeSource time;
  private volatile Reading newest;

  /**
   * At an instant between {@code sent} and {@code answered}, in ns of this process, the
   * coordinator's clock was at {@code micros}.
   */
  private record Reading(long sent, long answered, long micros) {}

  CoordinatorClock(RedisProcess coordinator, TimeSource time) {
    this.coordinator = coordinator;
    this.time = time;
    this.newest = read();
  }

  /** Reads the coordinator's clock again. */
  void poll() {
    newest = read();
  }

  /** Returns the lower bound of the coordinator's time, in µs since the epoch. */
  long earliestMicros(long nanos) {
    Reading reading = newest;
    return reading.micros()
        + Math.floorDiv(nanos - reading.answered(), NANOS_PER_MICRO)
        - DRIFT_MICROS;
  }

  /** Returns the upper bound of the coordinator's time, in µs since the epoch. */
  long latestMicros(long nanos) {
    Reading reading = newest;
    return reading.micros() + Math.ceilDiv(nanos - reading.sent(), NANOS_PER_MICRO) + DRIFT_MICROS;
  }

  /** Returns the approximate time of the coordinator, in ms since the epoch. */
  long aboutMillis() {
    long now = time.monotonicNanos();
    return (earliestMicros(now) + latestMicros(now)) / 2_000;
  }

  private Reading read() {
    long sent = time.monotonicNanos();
    List<String> parts = coordinator.command("TIME").lines().toList();
    long answered = time.monotonicNanos();
    long micros = Long.parseLong(parts.getFirst()) * 1_000_000 + Long.parseLong(parts.getLast());
    return new Reading(sent, answered, micros);
  }
}
