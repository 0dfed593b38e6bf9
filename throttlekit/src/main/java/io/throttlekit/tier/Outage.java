package io.throttlekit.tier;

/** The decision of a limit while its store does not answer. */
public enum Outage {
  /** The request fails; the caller decides. */
  ERROR,

  /** Refuses. */
  DENY,

  /** Admits, without counting. */
  ALLOW,

  /** Decides by this process's own counters, which admit a share of the limit. */
  LOCAL
}
