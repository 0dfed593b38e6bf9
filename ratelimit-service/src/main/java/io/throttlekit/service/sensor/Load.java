package io.throttlekit.service.sensor;

/**
 * What one Envoy says of one of its clusters. All numbers are from 0.
 *
 * <p>{@code issued = succeeded + failed + the growth of inProgress} does not hold: what Envoy's own
 * ceiling refuses, and what found no connection, has failed without having been issued, and what a
 * client broke off was issued without ever succeeding or failing.
 *
 * @param cluster of Envoy
 * @param inProgress requests that its hosts are working on now; those that wait in Envoy for a
 *     connection are not among them
 * @param issued attempts sent since the last report
 * @param succeeded answers that were no failure, since then
 * @param failed failures since then, those that Envoy's own ceiling refused among them
 * @param dropped requests since then that Envoy's own ceiling, or its overload policy, refused
 * @param nanos since the last report, by Envoy's clock
 */
public record Load(
    String cluster,
    long inProgress,
    long issued,
    long succeeded,
    long failed,
    long dropped,
    long nanos) {}
