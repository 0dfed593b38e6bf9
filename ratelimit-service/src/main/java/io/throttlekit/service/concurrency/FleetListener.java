package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.Rule;

/**
 * Listener for this process's part in concurrency limits that replicas share. Thread-safe; event
 * loops call it, so it never blocks.
 */
public interface FleetListener {
  /** A listener that ignores every event. */
  FleetListener NONE = new FleetListener() {};

  /**
   * A limit of the rule admits nothing any more, because the store does not answer.
   *
   * @param reason of the limit's last heartbeat that failed; empty if none did since an answer
   * @param sinceNanos when that began, monotonic
   * @return whether it is reported. If not, it is notified again later, while it lasts
   */
  default boolean fenced(Rule rule, String reason, long sinceNanos) {
    return true;
  }

  /**
   * A limit of the rule, which was reported, admits requests again, because the store has answered.
   *
   * @param sinceNanos when that began, monotonic
   * @return whether it is reported. If not, it is notified again later, while it lasts
   */
  default boolean unfenced(Rule rule, long sinceNanos) {
    return true;
  }

  /** A heartbeat of a limit failed. */
  default void heartbeatFailed(Throwable why) {}

  /** Another process has the node id of this one, for longer than a restart explains. */
  default void sameNode(String node) {}
}
