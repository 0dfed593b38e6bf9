package io.throttlekit.descriptors.policy;

/** Extent within which the limits of a rule are shared. */
public enum Scope {
  /** The processes that have one store: each region has limits of its own. */
  REGION,
  /** The processes of all regions that have one coordinator. */
  GLOBAL
}
