package io.throttlekit.service.config;

/**
 * Configuration of the warm-up before the process reports that it serves.
 *
 * @param requests synthetic requests that the process sends to itself; 0 for none
 */
public record WarmUpConfig(int requests) {

  /** Returns the defaults: 50,000 requests, which take 7 s at most. */
  public static WarmUpConfig defaults() {
    return new WarmUpConfig(50_000);
  }
}
