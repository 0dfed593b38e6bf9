package io.throttlekit.redis;

import io.throttlekit.redis.RedisListener.Failure;
import io.throttlekit.store.CircuitBreaker;

/** Tells the circuit breaker and the listener how calls went. Thread-safe. */
final class Health {
  /** Why a call is not sent. */
  static final String NOT_ASKED = "Redis does not answer, so it is not asked";

  private final CircuitBreaker breaker;
  private final RedisListener listener;

  Health(CircuitBreaker breaker, RedisListener listener) {
    this.breaker = breaker;
    this.listener = listener;
  }

  /** Whether a call may be sent; it is counted as failed when not. */
  boolean allows() {
    if (breaker.allows()) {
      return true;
    }
    listener.failed(1, Failure.OPEN, NOT_ASKED);
    return false;
  }

  boolean isUp() {
    return !breaker.isOpen();
  }

  /**
   * A round trip was answered.
   *
   * @param inTime whether nobody had given up waiting for it
   */
  void answered(int requests, long nanos, boolean inTime) {
    listener.roundTrip(requests, nanos);
    if (inTime && breaker.succeeded()) {
      listener.up();
    }
  }

  /**
   * Requests failed together, which counts as one failure.
   *
   * @param inWords what happened, for an operator
   */
  void failed(int requests, Failure why, String inWords) {
    if (requests > 0) {
      listener.failed(requests, why, inWords);
    }
    if (breaker.failed()) {
      listener.down();
    }
  }
}
