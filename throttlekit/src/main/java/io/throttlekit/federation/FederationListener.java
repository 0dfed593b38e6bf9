package io.throttlekit.federation;

/**
 * Receives events of a federation, to count them. Implementations are thread-safe, fast and do not
 * throw.
 */
public interface FederationListener {

  /** Ignores all events. */
  FederationListener NONE = new FederationListener() {};

  /** The region's escrow answered a lease. */
  default void leasedFromEscrow(long wanted, long granted) {}

  /** The region's escrow did not answer; the coordinator is called instead. */
  default void escrowFailed(String failureReason) {}

  /** Units were put into the region's escrow. */
  default void refilled(long units) {}

  /** The coordinator answered a lease. */
  default void leasedFromCoordinator(long wanted, long granted) {}

  /** The coordinator did not answer. */
  default void coordinatorFailed(String failureReason) {}

  /** No request was sent, because the coordinator does not answer and receives only probes. */
  default void coordinatorBreakerOpen() {}

  /** The coordinator began or ceased to answer. */
  default void coordinatorAnswers(boolean answers) {}

  /** Units were returned to the coordinator; it takes them only until their window ends. */
  default void returned(long units, boolean taken) {}

  /** Units arrived too late, or it is unknown whether they arrived. */
  default void lost(Loss where, long units) {}

  /** Two regions have different terms for the same budget. */
  default void mismatch(String message) {}
}
