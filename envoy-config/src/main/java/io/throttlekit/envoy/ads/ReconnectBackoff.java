package io.throttlekit.envoy.ads;

import java.time.Duration;
import java.util.random.RandomGenerator;

/**
 * Pauses between attempts to connect: each twice as long as the one before it, up to a maximum, and
 * all varied at random, so that the replicas of a fleet do not connect at the same moment.
 *
 * @param connect first pause after an attempt on which no response arrived, from 1 ms
 * @param lost first pause after a stream on which responses had arrived, from 1 ms
 * @param max longest pause before it is varied, not below the others
 * @param jitter by which part of itself a pause is at most varied, from 0 to 1
 */
public record ReconnectBackoff(Duration connect, Duration lost, Duration max, double jitter) {
  /** The defaults of envoyproxy/ratelimit. */
  public static final ReconnectBackoff DEFAULT =
      new ReconnectBackoff(
          Duration.ofSeconds(3), Duration.ofSeconds(10), Duration.ofSeconds(60), 0.5);

  /** Doubles 1 ms to a minute, and a day in ns without an overflow. */
  private static final int MAX_DOUBLINGS = 16;

  /**
   * @throws IllegalArgumentException when a value is out of range
   */
  public ReconnectBackoff {
    if (connect.toMillis() < 1 || lost.toMillis() < 1) {
      throw new IllegalArgumentException("a pause before connecting again lasts at least 1 ms");
    }
    if (max.compareTo(connect) < 0 || max.compareTo(lost) < 0 || max.toDays() > 1) {
      throw new IllegalArgumentException(
          "the longest pause before connecting again is a day at most, and not below the first");
    }
    if (!(jitter >= 0 && jitter <= 1)) { // excludes NaN, too
      throw new IllegalArgumentException("the jitter of pauses is from 0 to 1");
    }
  }

  /**
   * Returns a pause in ns, above 0.
   *
   * @param responded whether responses had arrived on the stream that ended
   * @param failures how many attempts have failed in a row before, from 0
   */
  long pauseNanos(boolean responded, int failures, RandomGenerator random) {
    Duration first = responded ? lost : connect;
    long grown = first.toNanos() << Math.min(failures, MAX_DOUBLINGS);
    double factor = 1 + jitter * (2 * random.nextDouble() - 1);
    return Math.max(1, Math.round(Math.min(grown, max.toNanos()) * factor));
  }
}
