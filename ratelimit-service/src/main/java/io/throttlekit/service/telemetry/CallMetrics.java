package io.throttlekit.service.telemetry;

/** Counts the calls of one method. Implementations are thread-safe. */
public interface CallMetrics {

  /** Counts a call that ended, also with an error, and how long it took, in ns. */
  void answered(long nanos);

  /** Counts a request that got no decision. */
  void failed(Failure failure);

  /**
   * Counts a call whose caller gave up on it by its timeout: an Envoy then lets the request pass,
   * or refuses it, as its {@code failure_mode_deny} says. At most once for each call.
   */
  void abandoned(Abandonment how);

  /** How the service notices that a caller gave up. */
  enum Abandonment {
    /** The caller's reset arrived before the answer was sent. */
    RESET,
    /** The answer was written later after the request's arrival than the caller waits. */
    ANSWERED_LATE
  }
}
