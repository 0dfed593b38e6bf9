package io.throttlekit.service.rls;

/** A request that no policy could ever answer. Its message is for the caller; it has no stack. */
public final class InvalidRequestException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Says what is wrong with the request. */
  public InvalidRequestException(String message) {
    super(message, null, false, false);
  }
}
