package io.throttlekit.service.telemetry.mapping;

/** A mapping file, or one mapping of it, cannot be used. The message is for an operator. */
final class MappingSyntaxException extends Exception {
  private static final long serialVersionUID = 1L;

  MappingSyntaxException(String message) {
    super(message, null, false, false);
  }
}
