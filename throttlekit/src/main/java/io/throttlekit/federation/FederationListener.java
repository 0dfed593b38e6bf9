package io.throttlekit.federation;

/** Is told what a federation does, to count it. Thread-safe, quick, and without exceptions. */
public interface FederationListener {

  /** Listens to nothing. */
  FederationListener NONE = new FederationListener() {};

  /** The region's escrow gave units. */
  default void leasedFromEscrow(long wanted, long granted) {}

  /** The region's escrow did not answer; the coordinator is asked in its place. */
  default void escrowFailed(String whyInWords) {}

  /** Units were put into the region's escrow. */
  default void refilled(long units) {}

  /** The coordinator gave units. */
  default void leasedFromCoordinator(long wanted, long granted) {}

  /** The coordinator did not answer. */
  default void coordinatorFailed(String whyInWords) {}

  /** Nothing was asked, because the coordinator is left alone but for probes. */
  default void coordinatorLeftAlone() {}

  /** Whether the coordinator answers, when that changes. */
  default void coordinatorAnswers(boolean answers) {}

  /** Units went back to the coordinator; it takes them only while their window lasts. */
  default void returned(long units, boolean taken) {}

  /** Units came too late, or nobody can say that they arrived. */
  default void lost(Loss where, long units) {}

  /** Two regions do not share the same budgets. */
  default void mismatch(String inWords) {}
}
