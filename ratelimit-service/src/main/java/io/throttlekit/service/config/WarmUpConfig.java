package io.throttlekit.service.config;

/**
 * What happens before the process says that it serves.
 *
 * @param requests synthetic requests that the process sends to itself; 0 for none
 */
public record WarmUpConfig(int requests) {

  /** What is in force when nothing is configured. */
  public static WarmUpConfig defaults() {
    return new WarmUpConfig(50_000);
  }
}
