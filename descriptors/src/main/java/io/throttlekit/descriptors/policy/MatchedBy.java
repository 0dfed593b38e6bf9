package io.throttlekit.descriptors.policy;

/** Ways in which an entry of a request finds a descriptor of a policy, in order of precedence. */
public enum MatchedBy {
  /** The text {@code key_value} is the descriptor's. */
  EXACT,
  /** The descriptor is the first wildcard that matches {@code key_value}. */
  WILDCARD,
  /** The descriptor is the default of the key. */
  DEFAULT
}
