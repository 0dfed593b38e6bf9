package io.throttlekit.descriptors;

/** Who shares the limits of a rule. */
public enum Scope {
  /** The processes that have one store: each region has limits of its own. */
  REGION,
  /** The processes of all regions that have one coordinator. */
  GLOBAL
}
