package io.throttlekit.descriptors.policy;

/** Answer of a rule when its counters cannot be reached in time. */
public enum OnOutage {
  /** The call fails, and Envoy's own failure mode decides. */
  ERROR,
  /** Over limit. */
  DENY,
  /** Within the limit. */
  ALLOW,
  /** Counters of this process decide. */
  LOCAL,
  /** The units that the region holds decide, without the federation. */
  REGIONAL_ONLY
}
