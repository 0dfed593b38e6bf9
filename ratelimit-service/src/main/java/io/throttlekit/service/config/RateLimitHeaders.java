package io.throttlekit.service.config;

/**
 * The three classic headers.
 *
 * @param enabled whether answers carry them
 * @param limit name of the header that tells the limit
 * @param remaining name of the header that tells what is left of it
 * @param reset name of the header that tells the seconds until it is whole again
 */
public record RateLimitHeaders(boolean enabled, String limit, String remaining, String reset) {

  /** What is in force when nothing is configured. */
  public static RateLimitHeaders defaults() {
    return new RateLimitHeaders(false, "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset");
  }
}
