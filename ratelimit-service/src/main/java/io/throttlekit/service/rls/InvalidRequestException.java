package io.throttlekit.service.rls;

/**
 * Signals a request to which no policy could apply. Its message is for the caller; it has no stack
 * trace.
 */
public final class InvalidRequestException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with a message that describes the fault of the request. */
  public InvalidRequestException(String message) {
    super(message, null, false, false);
  }
}
