package io.throttlekit.service.admission;

/** Nothing can be decided because no policies were ever loaded. Carries no stack. */
public final class NoPoliciesException extends RuntimeException {
  private static final long serialVersionUID = 1L;

  /** Says so in words for the caller. */
  public NoPoliciesException() {
    super("no rate limit configuration loaded", null, false, false);
  }
}
