package io.throttlekit.service.config;

/**
 * When the process calls itself healthy.
 *
 * @param storeMustBeReachable whether a broken store makes it unhealthy
 * @param needsPolicies whether it is unhealthy until policies are loaded
 */
public record HealthConfig(boolean storeMustBeReachable, boolean needsPolicies) {

  /** What is in force when nothing is configured. */
  public static HealthConfig defaults() {
    return new HealthConfig(false, false);
  }
}
