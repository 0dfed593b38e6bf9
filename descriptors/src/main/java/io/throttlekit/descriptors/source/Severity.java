package io.throttlekit.descriptors.source;

/** Severity of a {@link Problem}. */
public enum Severity {
  /** The policies cannot be used. */
  ERROR,
  /** The policies work, but perhaps not as their author intends. */
  WARNING
}
