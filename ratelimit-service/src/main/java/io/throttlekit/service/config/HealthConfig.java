package io.throttlekit.service.config;

/**
 * Conditions under which the process reports healthy.
 *
 * @param storeMustBeReachable whether an unreachable store makes it unhealthy
 * @param needsPolicies whether it is unhealthy until policies are loaded
 */
public record HealthConfig(boolean storeMustBeReachable, boolean needsPolicies) {

  /** Returns the defaults. */
  public static HealthConfig defaults() {
    return new HealthConfig(false, false);
  }
}
