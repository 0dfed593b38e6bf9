package io.throttlekit.service.config;

/**
 * Body of a refusal.
 *
 * @param contentType of the text
 * @param text empty for no body
 */
public record DeniedBody(String contentType, String text) {

  /** Returns the defaults. */
  public static DeniedBody defaults() {
    return new DeniedBody("text/plain; charset=utf-8", "");
  }
}
