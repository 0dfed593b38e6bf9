package io.throttlekit.service.telemetry;

/** Counts the calls of one method. Implementations are thread-safe. */
public interface CallMetrics {

  /** Counts a call that ended, even with an error, with its latency in ns. */
  void answered(long nanos);

  /** Counts a request without a decision. */
  void failed(Failure failure);

  /**
   * Counts a call whose caller timed out: Envoy then admits or refuses the request according to its
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
}
