package io.throttlekit.service.steering;

/**
 * What part of the requests that succeeded, as Envoys report, never came in the access log. Entries
 * are lost without a trace when a stream breaks or a buffer is full, and then it is the slow ones:
 * what is left makes a backend look better than it is.
 *
 * <p>Compares ten seconds of either; an entry may wait at Envoy for about one. Called by one thread
 * at a time.
 */
final class LogLoss {
  private static final int SECONDS = 10;
  private static final int WAITS_SECONDS = 1;
  private static final int LEAST = 100;
  private static final double MUCH = 0.05;

  private final LastSeconds succeeded;
  private final LastSeconds logged;

  LogLoss(long nowNanos) {
    succeeded = new LastSeconds(SECONDS + WAITS_SECONDS, nowNanos);
    logged = new LastSeconds(SECONDS, nowNanos);
  }

  /** Envoys say that so many requests succeeded. */
  void succeeded(long requests, long nowNanos) {
    succeeded.add((double) requests, nowNanos);
  }

  /** One of these came in the log. */
  void logged(long nowNanos) {
    logged.add(1, nowNanos);
  }

  /** Whether more than one in twenty is missing; false where nobody reports how many there were. */
  boolean muchIsMissing(long nowNanos) {
    double expected = succeeded.sumBefore(WAITS_SECONDS, nowNanos);
    return expected >= LEAST && expected - logged.sumBefore(0, nowNanos) > MUCH * expected;
  }
}
