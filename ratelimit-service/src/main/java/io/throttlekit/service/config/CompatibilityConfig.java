package io.throttlekit.service.config;

/**
 * Where envoyproxy/ratelimit decides differently.
 *
 * @param chargeRejected whether refused requests are charged
 * @param shadowMode whether nothing is ever refused, only told
 * @param quotaMode whether a request is refused only when all its descriptors are
 */
public record CompatibilityConfig(boolean chargeRejected, boolean shadowMode, boolean quotaMode) {

  /** What is in force when nothing is configured. */
  public static CompatibilityConfig defaults() {
    return new CompatibilityConfig(false, false, false);
  }
}
