package io.throttlekit.envoy.ceiling;

/** Hears what Envoys obey. Called by one thread at a time, which must not be kept waiting. */
@FunctionalInterface
public interface CeilingListener {

  /**
   * Envoys let in another number of requests together, by the shares that they acknowledged last:
   * the ceiling in the end, and what is between the last one and it before. Of changes that follow
   * each other within a tick, only the last is told.
   *
   * @param requests from 0
   * @param sinceNanos when the last of them said so, monotonic
   */
  void obeyed(Ceiling ceiling, int requests, long sinceNanos);

  /**
   * A stream was ended at its first message, because there are too many or it named no node id that
   * it may use: its Envoy has no share.
   */
  default void turnedAway() {}
}
