package io.throttlekit.service.rls;

/** Receives the calls of one method. Implementations are thread-safe and do not block. */
public interface CallListener {

  /** Called when a call ended, even with an error, with its latency in ns. */
  void answered(long nanos);

  /** Called when a request got no decision. */
  void failed(Failure failure);

  /**
   * Called when the caller timed out: Envoy then admits or refuses the request according to its
   * {@code failure_mode_deny}. At most once per call.
   */
  void abandoned(Abandonment how);

  /** How the service detects that a caller timed out. */
  enum Abandonment {
    /** The caller's reset arrived before the answer was sent. */
    RESET,
    /** The answer was written later after the request's arrival than the caller's timeout. */
    ANSWERED_LATE
  }

  /** Reason why a request got no decision. */
  enum Failure {
    /** The request was invalid, or no policies were loaded. */
    SERVICE,
    /** The store of counters did not answer. */
    STORE,
    /** The caller cancelled or timed out before the answer: not an error of the service. */
    CANCELLED,
    /** The request was read too late for its answer to arrive in time. */
    SHED
  }
}
