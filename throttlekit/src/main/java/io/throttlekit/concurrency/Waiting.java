package io.throttlekit.concurrency;

/** A request that may be waiting for a permit. Thread-safe. */
@FunctionalInterface
public interface Waiting {

  /** The waiting of those who were told at once. */
  Waiting OVER = () -> false;

  /**
   * Waits no more.
   *
   * @return whether the request waited, so that its {@link Applicant} will not be told anything; if
   *     not, it has been told or is being told, and may have a permit to give back
   */
  boolean cancel();
}
