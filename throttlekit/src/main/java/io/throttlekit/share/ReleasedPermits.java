package io.throttlekit.share;

/**
 * Permits of a process that were released through another one. They count only where the process is
 * no member any more: a member reports its requests in flight by itself.
 *
 * <p>To be reported once for each permit, and only if the process has not seen the release: it may
 * have admitted another request in its place.
 *
 * @param process the upper 32 bits of the process's incarnations
 * @param permits from 1; clamped
 */
public record ReleasedPermits(String key, int process, int permits) {
  /** Clamps the number. */
  public ReleasedPermits {
    permits = Math.clamp(permits, 1, Heartbeat.MAX_REQUESTS);
  }
}
