package io.throttlekit.service.config;

/**
 * What an answer carries besides its statuses.
 *
 * @param headers the three classic headers
 * @param retryAfter whether a refusal carries {@code Retry-After}
 * @param structuredHeaders whether answers carry RFC 9651 {@code RateLimit} and {@code
 *     RateLimit-Policy}
 * @param deniedBody the body of a refusal
 * @param dynamicMetadata whether answers carry dynamic metadata for Envoy
 */
public record ResponseConfig(
    RateLimitHeaders headers,
    boolean retryAfter,
    boolean structuredHeaders,
    DeniedBody deniedBody,
    boolean dynamicMetadata) {

  /** What is in force when nothing is configured. */
  public static ResponseConfig defaults() {
    return new ResponseConfig(
        RateLimitHeaders.defaults(), true, false, DeniedBody.defaults(), false);
  }
}
