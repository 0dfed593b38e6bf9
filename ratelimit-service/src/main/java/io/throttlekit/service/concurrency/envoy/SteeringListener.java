package io.throttlekit.service.concurrency.envoy;

/**
 * Listens for this replica's part in the limits that Envoys enforce. Thread-safe; event loops call
 * it, so it never blocks.
 */
public interface SteeringListener {
  /** A listener that ignores every event. */
  SteeringListener NONE = new SteeringListener() {};

  /** This replica computes and divides the limits from now on. */
  default void began(long epoch) {}

  /** Another replica does, or none. */
  default void ended() {}

  /** A visit to the exchange failed. */
  default void visitFailed(String reason) {}

  /**
   * No visit has succeeded for so long that Envoys must connect to another replica: their streams
   * end, and new ones are rejected.
   */
  default void cutOff() {}

  /** Envoys are accepted again, because a visit has succeeded. */
  default void reachable() {}

  /** A report of a replica, or the record, was not used: it is invalid or was read before. */
  default void rejected(String reason) {}

  /** Reports of replicas were dropped before the steering replica collected them. */
  default void reportsDropped(long reports) {}

  /** Outcomes and loads were dropped, as there were too many to report, or they were too old. */
  default void outcomesDropped(long outcomes) {}

  /** Two processes have this id, for longer than a restart explains. */
  default void sameNode(String node) {}
}
