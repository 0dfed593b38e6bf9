package io.throttlekit.service.config;

/**
 * Configuration of responses, besides their statuses.
 *
 * @param headers the three classic headers
 * @param retryAfter whether a refusal has {@code Retry-After}
 * @param structuredHeaders whether responses have RFC 9651 {@code RateLimit} and {@code
 *     RateLimit-Policy}
 * @param deniedBody the body of a refusal
 * @param dynamicMetadata whether responses have dynamic metadata for Envoy
 */
public record ResponseConfig(
    RateLimitHeaders headers,
    boolean retryAfter,
    boolean structuredHeaders,
    DeniedBody deniedBody,
    boolean dynamicMetadata) {

  /** Returns the defaults. */
  public static ResponseConfig defaults() {
    return new ResponseConfig(
        RateLimitHeaders.defaults(), true, false, DeniedBody.defaults(), false);
  }
}
