package io.throttlekit.federation;

/** Where units that were granted get lost, until their window ends. */
public enum Loss {
  /**
   * On their way into a region's escrow: it says that it is too late, or nothing, and may have
   * them.
   */
  REFILL,
  /** On their way back to the coordinator, which did not take them. */
  RETURN
}
