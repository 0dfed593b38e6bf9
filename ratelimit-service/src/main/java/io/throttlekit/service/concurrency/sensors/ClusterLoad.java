package io.throttlekit.service.concurrency.sensors;

/**
 * The load of one cluster as one Envoy reports it. All numbers are from 0.
 *
 * <p>{@code issued = succeeded + failed + the growth of inProgress} does not hold: requests that
 * Envoy's circuit breaker refused, or that found no connection, count as failed without having been
 * issued, and requests that a client aborted count as issued without ever succeeding or failing.
 *
 * @param cluster of Envoy
 * @param inProgress requests that the cluster's hosts are processing; without those that wait in
 *     Envoy for a connection
 * @param issued attempts sent since the last report
 * @param succeeded successful answers since then
 * @param failed failures since then, including those that Envoy's circuit breaker refused
 * @param dropped requests since then that Envoy's circuit breaker or its overload policy refused
 * @param nanos since the last report, by Envoy's clock
 */
public record ClusterLoad(
    String cluster,
    long inProgress,
    long issued,
    long succeeded,
    long failed,
    long dropped,
    long nanos) {}
