package io.throttlekit.descriptors.source;

import java.util.Locale;

/**
 * Error or warning about a policy, for its author.
 *
 * @param location where to look
 * @param message what is wrong, in one sentence without a full stop
 * @param hint how to fix it; "" when there is nothing to add
 */
public record Problem(Severity severity, SourceLocation location, String message, String hint) {

  /**
   * Returns {@code file:line:column: error: message (hint)}, as compilers write it; {@code file: …}
   * where only the file is known.
   */
  @Override
  public String toString() {
    String text = location + ": " + severity.name().toLowerCase(Locale.ROOT) + ": " + message;
    return hint.isEmpty() ? text : text + " (" + hint + ")";
  }
}
