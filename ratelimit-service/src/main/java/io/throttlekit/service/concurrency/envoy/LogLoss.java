package io.throttlekit.service.concurrency.envoy;

/**
 * Fraction of the successful requests that Envoys report but that never arrive in the access log.
 * Entries are lost silently when a stream breaks or a buffer is full, which happens under load: the
 * slow requests are missing, and the backend looks better than it is.
 *
 * <p>Compares ten seconds of each; Envoy buffers an entry for about one second. Called by one
 * thread at a time.
 */
final class LogLoss {
  // several messages of each log, so that one late message is not a loss
  private static final int SECONDS = 10;
  // Envoy buffers entries for about a second
  private static final int WAITS_SECONDS = 1;
  // with fewer, 5 % are a handful that one late message explains
  private static final int MIN_REQUESTS = 100;
  // documented in METRICS.md
  private static final double MAX_MISSING = 0.05;

  private final LastSeconds succeeded;
  private final LastSeconds logged;

  LogLoss(long nowNanos) {
    succeeded = new LastSeconds(SECONDS + WAITS_SECONDS, nowNanos);
    logged = new LastSeconds(SECONDS, nowNanos);
  }

  /** Records successful requests that Envoys reported. */
  void succeeded(long requests, long nowNanos) {
    succeeded.add((double) requests, nowNanos);
  }

  /** Records a successful request in the log. */
  void logged(long nowNanos) {
    logged.add(1, nowNanos);
  }

  /** Returns whether more than 5 % are missing; false if no Envoy reports its requests. */
  boolean muchIsMissing(long nowNanos) {
    double expected = succeeded.sumBefore(WAITS_SECONDS, nowNanos);
    return expected >= MIN_REQUESTS
        && expected - logged.sumBefore(0, nowNanos) > MAX_MISSING * expected;
  }
}
