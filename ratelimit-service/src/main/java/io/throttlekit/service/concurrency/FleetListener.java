package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.Rule;

/**
 * Listener for this process's part in concurrency limits that replicas share. Thread-safe; event
 * loops call it, so it never blocks.
 */
public interface FleetListener {
  /** A listener that ignores every event. */
  FleetListener NONE = new FleetListener() {};

  /** A limit of the rule admits nothing any more, because the store does not answer. */
  default void fenced(Rule rule) {}

  /** A limit of the rule admits requests again, because the store has answered. */
  default void unfenced(Rule rule) {}

  /** A heartbeat of a limit failed. */
  default void heartbeatFailed(Throwable why) {}

  /** Another process has the node id of this one, for longer than a restart explains. */
  default void sameNode(String node) {}
}
