package io.throttlekit.service.config;

/**
 * The body of a refusal.
 *
 * @param contentType of the text
 * @param text empty for no body
 */
public record DeniedBody(String contentType, String text) {

  /** What is in force when nothing is configured. */
  public static DeniedBody defaults() {
    return new DeniedBody("text/plain; charset=utf-8", "");
  }
}
