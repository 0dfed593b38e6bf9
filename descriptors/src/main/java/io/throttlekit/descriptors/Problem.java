package io.throttlekit.descriptors;

import java.util.Locale;

/**
 * Something in a policy that its author should know.
 *
 * @param location where to look
 * @param message what is wrong, in one sentence without a full stop
 * @param hint what to do about it; "" when there is nothing to add
 */
public record Problem(Severity severity, SourceLocation location, String message, String hint) {

  /**
   * {@code file:line:column: error: message (hint)}, as compilers write it; of a file {@code file:
   * …}.
   */
  @Override
  public String toString() {
    String text = location + ": " + severity.name().toLowerCase(Locale.ROOT) + ": " + message;
    return hint.isEmpty() ? text : text + " (" + hint + ")";
  }
}
