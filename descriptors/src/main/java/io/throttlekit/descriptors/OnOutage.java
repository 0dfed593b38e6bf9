package io.throttlekit.descriptors;

/** What a rule answers when its counters cannot be reached in time. */
public enum OnOutage {
  /** The call fails, and Envoy's own failure mode decides. */
  ERROR,
  /** Over limit. */
  DENY,
  /** Within the limit. */
  ALLOW,
  /** Counters of this process decide. */
  LOCAL,
  /** What the region holds decides, without the federation. */
  REGIONAL_ONLY
}
