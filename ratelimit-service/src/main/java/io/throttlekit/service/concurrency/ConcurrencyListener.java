package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.Rule;
import io.throttlekit.limiter.Refusal;

/** Listener for the events of the limiter. Thread-safe; event loops call it, so it never blocks. */
public interface ConcurrencyListener {

  /** A listener that ignores every event. */
  ConcurrencyListener NONE = new ConcurrencyListener() {};

  /** A request found no room below a concurrency limit of the rule. */
  default void refused(Rule rule, Refusal why) {}

  /** A request was refused because there are too many permits. */
  default void noRoomForPermits() {}

  /** A permit was created. */
  default void acquired() {}

  /** A permit ended. */
  default void ended(PermitEnd how) {}

  /** A release named a permit that has ended or never existed. */
  default void stale() {}

  /** Releases of other processes' permits were handed to the exchange. */
  default void forwarded(int releases) {}

  /** Releases of this process's permits arrived from other processes. */
  default void received(int releases) {}

  /** Releases of other processes' permits, or of this one's, were dropped. */
  default void dropped(DroppedRelease why, long releases) {}

  /** The coordinator has counted releases of permits whose process has died. */
  default void orphansReleased(int permits) {}

  /** A call that exchanges releases with other processes failed; it is repeated. */
  default void exchangeFailed(String reason) {}

  /** A release reported how its request ended. */
  default void reported(StreamEnd end) {}

  /** A value beside a release was ignored. */
  default void ignored(IgnoredReport why) {}

  /** A concurrency limit of the rule changed. */
  default void limitChanged(Rule rule, int before, int now) {}

  /**
   * A concurrency limit of the rule has moved by more than a fifth since this was last reported.
   *
   * @return whether the listener reports it; if not, the next change is compared with {@code from}
   *     again
   */
  default boolean limitMoved(Rule rule, int from, int now) {
    return true;
  }

  /** The priority level that a request needs to wait changed. */
  default void thresholdChanged(int before, int now) {}
}
