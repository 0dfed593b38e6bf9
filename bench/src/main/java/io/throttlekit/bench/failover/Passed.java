package io.throttlekit.bench.failover;

/** Requests of one Envoy that passed without a limit. Thread-safe. */
final class Passed {
  /** Status of a request that was limited. */
  static final int LIMITED = 429;

  private static final int OK = 200;

  private long failedNanos = Long.MAX_VALUE;
  private int before;
  private int passed;
  private int failed;
  private long lastNanos;

  /** Records when the replica began to fail. */
  synchronized void failedAt(long nanos) {
    failedNanos = nanos;
  }

  /**
   * Records an answer.
   *
   * @param sentNanos when the request was sent
   * @param status 0 if the connection failed
   */
  synchronized void answered(long sentNanos, int status) {
    if (status == LIMITED) {
      return;
    }
    if (status != OK) {
      failed++;
    } else if (failedNanos == Long.MAX_VALUE) {
      before++;
    } else {
      passed++;
      lastNanos = Math.max(lastNanos, sentNanos - failedNanos);
    }
  }

  /** Returns how many passed before the fault: errors of the measurement. */
  synchronized int before() {
    return before;
  }

  /** Returns how many passed since the fault. */
  synchronized int passed() {
    return passed;
  }

  /** Returns how many were answered neither 200 nor 429. */
  synchronized int failed() {
    return failed;
  }

  /** Returns the time from the fault to the last request that passed. */
  synchronized double lastSeconds() {
    return lastNanos / 1e9;
  }
}
