package io.throttlekit.federation;

/** The way on which units were lost: they arrived too late, or possibly not at all. */
public enum Loss {
  /** On their way into a region's escrow. */
  REFILL,
  /** On their way back to the coordinator. */
  RETURN
}
