package io.throttlekit.descriptors;

/** How much a {@link Problem} matters. */
public enum Severity {
  /** The policies cannot be used. */
  ERROR,
  /** The policies work, but perhaps not as their author thinks. */
  WARNING
}
