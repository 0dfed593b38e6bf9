package io.throttlekit.service.config;

import java.time.Duration;

/**
 * Configuration of concurrency limits: how this process observes requests, and sets limits of
 * Envoys. Features that are not used cost nothing.
 *
 * @param accessLog whether access logs of Envoys are accepted
 * @param maxSamplesPerSecond maximum number of requests in a second that one stream of a log passes
 *     to the limit algorithms
 * @param loadReports whether Envoys may report their load
 * @param loadReportInterval interval at which Envoys report
 * @param pushLimits whether this process pushes the limits of {@code gate: envoy} to Envoys
 * @param maxEnvoys maximum number of Envoys that it pushes them to
 * @param nodeId id of this process among the replicas that share limits; empty for that of its host
 */
public record ConcurrencyConfig(
    boolean accessLog,
    int maxSamplesPerSecond,
    boolean loadReports,
    Duration loadReportInterval,
    boolean pushLimits,
    int maxEnvoys,
    String nodeId) {}
