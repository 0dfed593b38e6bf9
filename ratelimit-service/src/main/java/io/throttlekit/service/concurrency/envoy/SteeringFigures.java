package io.throttlekit.service.concurrency.envoy;

import io.throttlekit.envoy.xds.SharePlan;
import java.util.Map;

/**
 * A replica's part in the limits that Envoys enforce, and what it knows of the others'.
 *
 * @param replica id of this replica
 * @param steering id of the replica that steers; empty if none is known to
 * @param epoch of the lease if this replica steers, else 0
 * @param cutOff whether Envoys must connect to another replica, as no visit succeeds
 * @param plan newest that was published
 * @param planEpoch in which it was published; 0 for none
 * @param holders if this replica steers, ids of the replicas that hold discovery streams, by token;
 *     else empty
 */
public record SteeringFigures(
    String replica,
    String steering,
    long epoch,
    boolean cutOff,
    SharePlan plan,
    long planEpoch,
    Map<String, String> holders) {}
