package io.throttlekit.federation;

/** Where units get lost that come too late, or of which nobody can say that they arrived. */
public enum Loss {
  /** On their way into a region's escrow. */
  REFILL,
  /** On their way back to the coordinator. */
  RETURN
}
