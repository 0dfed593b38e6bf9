package io.throttlekit.service.config;

/**
 * Configuration of the three classic rate-limit headers.
 *
 * @param enabled whether responses have them
 * @param limit name of the header for the limit
 * @param remaining name of the header for the remaining units
 * @param reset name of the header for the seconds until the limit is whole again
 */
public record RateLimitHeaders(boolean enabled, String limit, String remaining, String reset) {

  /** Returns the defaults. */
  public static RateLimitHeaders defaults() {
    return new RateLimitHeaders(false, "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset");
  }
}
