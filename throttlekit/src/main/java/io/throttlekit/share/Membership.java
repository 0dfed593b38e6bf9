package io.throttlekit.share;

/**
 * How a node takes part in the concurrency limit of a fleet.
 *
 * @param key of the limit, the same on all nodes
 * @param node id of this node, unique in the fleet
 * @param heartbeatNanos time between two heartbeats
 * @param leaseNanos how long a share lasts from its heartbeat; above {@code heartbeatNanos}
 * @param minHeartbeatNanos the least time between two heartbeats, from 1
 * @param fenceMarginNanos how long before the end of its lease a node stops to admit. At least the
 *     time by which its clock and that of the coordinator may diverge within a lease; if requests
 *     are not aborted then, and their longest duration
 * @param idleNanos how long after its last request a node leaves the fleet, until the next one;
 *     from 1, {@link Long#MAX_VALUE} for never
 * @param permitNanos how long requests may last after they were admitted, if they go on without
 *     this node, from 0; their permits stay reserved so long if the node dies
 * @param onOutage what applies while the coordinator does not answer
 */
public record Membership(
    String key,
    String node,
    long heartbeatNanos,
    long leaseNanos,
    long minHeartbeatNanos,
    long fenceMarginNanos,
    long idleNanos,
    long permitNanos,
    OnOutage onOutage) {
  private static final long SECOND = 1_000_000_000;

  /** Longer than the gaps between the requests of a limit that is in use. */
  private static final long IDLE_NANOS = 10 * SECOND;

  /**
   * @throws IllegalArgumentException when the node has no id, or a time is out of range
   */
  public Membership {
    if (key.isEmpty() || node.isEmpty()) {
      throw new IllegalArgumentException("a limit has a key and a node an id");
    }
    if (heartbeatNanos < 1 || minHeartbeatNanos < 1 || minHeartbeatNanos > heartbeatNanos) {
      throw new IllegalArgumentException(
          "heartbeats come every %s ns, %s ns apart at least; both are from 1, the second no longer"
              .formatted(heartbeatNanos, minHeartbeatNanos));
    }
    if (idleNanos < 1) {
      throw new IllegalArgumentException(
          "a node leaves after %s ns: at least 1".formatted(idleNanos));
    }
    if (permitNanos < 0) {
      throw new IllegalArgumentException("requests last %s ns: at least 0".formatted(permitNanos));
    }
    if (fenceMarginNanos < 0 || leaseNanos - fenceMarginNanos <= heartbeatNanos) {
      throw new IllegalArgumentException(
          "a lease of %s ns less its margin of %s ns lasts longer than a heartbeat of %s ns"
              .formatted(leaseNanos, fenceMarginNanos, heartbeatNanos));
    }
  }

  /**
   * Returns the defaults: a heartbeat every second, a lease of two, a margin of half of what is
   * between them; a node leaves after 10 s.
   */
  public static Membership of(String key, String node) {
    return of(key, node, OnOutage.FAIL_CLOSED);
  }

  /** Returns the defaults for requests that end with their node. */
  public static Membership of(String key, String node, OnOutage onOutage) {
    return new Membership(
        key, node, SECOND, 2 * SECOND, SECOND / 10, SECOND / 2, IDLE_NANOS, 0, onOutage);
  }

  /** Returns the same for requests that may go on for so long when their node has died. */
  public Membership withPermits(long nanos) {
    return new Membership(
        key,
        node,
        heartbeatNanos,
        leaseNanos,
        minHeartbeatNanos,
        fenceMarginNanos,
        idleNanos,
        nanos,
        onOutage);
  }
}
