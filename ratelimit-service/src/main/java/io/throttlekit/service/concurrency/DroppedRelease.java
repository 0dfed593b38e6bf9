package io.throttlekit.service.concurrency;

/** The reason for which a release was not forwarded; its permit ends by its TTL. */
public enum DroppedRelease {
  /** Too many waited in this process, because the store did not answer or was too slow. */
  TOO_MANY_WAIT,
  /** Too many waited for the process of the permit. */
  QUEUE_FULL,
  /** The store did not answer when this process stopped. */
  STOPPED
}
