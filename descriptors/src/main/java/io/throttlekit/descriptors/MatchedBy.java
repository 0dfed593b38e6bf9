package io.throttlekit.descriptors;

/** How an entry of a request found a descriptor of a policy, in order of precedence. */
public enum MatchedBy {
  /** The text {@code key_value} is the descriptor's. */
  EXACT,
  /** The descriptor is the first wildcard that describes {@code key_value}. */
  WILDCARD,
  /** The descriptor is the default of the key. */
  DEFAULT
}
