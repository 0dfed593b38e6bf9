package io.throttlekit.service.admission;

/**
 * Signals that no request can be decided because no policies were ever loaded. Has no stack trace.
 */
public final class NoPoliciesException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Creates the exception with a message for the caller. */
  public NoPoliciesException() {
    super("no rate limit configuration loaded", null, false, false);
  }
}
