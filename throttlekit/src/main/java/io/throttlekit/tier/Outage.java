package io.throttlekit.tier;

/** What a limit answers while its store does not. */
public enum Outage {
  /** The request fails; whoever asked decides. */
  ERROR,

  /** Refused. */
  DENY,

  /** Admitted, and not counted. */
  ALLOW,

  /** Decided by this process alone, which admits a share of the limit. */
  LOCAL
}
