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

  /**
   * Configuration of the three classic rate-limit headers.
   *
   * @param enabled whether responses have them
   * @param limit name of the header for the limit
   * @param remaining name of the header for the remaining units
   * @param reset name of the header for the seconds until the limit is whole again
   */
  public record RateLimitHeaders(boolean enabled, String limit, String remaining, String reset) {}

  /**
   * Body of a refusal.
   *
   * @param contentType of the text
   * @param text empty for no body
   */
  public record DeniedBody(String contentType, String text) {}
}
