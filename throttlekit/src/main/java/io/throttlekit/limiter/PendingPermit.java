package io.throttlekit.limiter;

/** The handle of a request that may be waiting for a permit. Thread-safe. */
@FunctionalInterface
public interface PendingPermit {

  /** The handle of a request that was answered at once. */
  PendingPermit ANSWERED = () -> false;

  /**
   * Cancels the wait.
   *
   * @return true if the request was waiting, so its {@link PermitCallback} will not be notified;
   *     false if it was notified already or is being notified, and may hold a permit that must be
   *     ended
   */
  boolean cancel();
}
