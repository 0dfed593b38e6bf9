package io.throttlekit.service.concurrency;

import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.Coordination;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * The replicas of the service that share concurrency limits, as this process sees them.
 *
 * @param node id of this process, unique among the replicas
 * @param coordinators returns the coordinator for a way of coordination, which all replicas share;
 *     not closed here
 * @param incarnations random numbers that no process uses again; thread-safe
 * @param listener of the events of this process
 */
public record Fleet(
    String node,
    Function<Coordination, ConcurrencyCoordinator> coordinators,
    LongSupplier incarnations,
    FleetListener listener) {}
