package io.throttlekit.share;

import io.throttlekit.share.DistributedLimiter.OnOutage;

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
 * @param onOutage what applies while the coordinator does not answer
 */
public record Membership(
    String key,
    String node,
    long heartbeatNanos,
    long leaseNanos,
    long minHeartbeatNanos,
    long fenceMarginNanos,
    OnOutage onOutage) {
  private static final long SECOND = 1_000_000_000;

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
    if (fenceMarginNanos < 0 || leaseNanos - fenceMarginNanos <= heartbeatNanos) {
      throw new IllegalArgumentException(
          "a lease of %s ns less its margin of %s ns lasts longer than a heartbeat of %s ns"
              .formatted(leaseNanos, fenceMarginNanos, heartbeatNanos));
    }
  }

  /**
   * Returns the defaults: a heartbeat every second, a lease of two, a margin of half of what is
   * between them.
   */
  public static Membership of(String key, String node) {
    return new Membership(
        key, node, SECOND, 2 * SECOND, SECOND / 10, SECOND / 2, OnOutage.FAIL_CLOSED);
  }
}
