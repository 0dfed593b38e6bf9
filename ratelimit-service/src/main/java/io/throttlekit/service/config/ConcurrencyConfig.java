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
 * @param envoyHold how long the share of an Envoy without a stream stays reserved
 * @param maxEnvoys maximum number of Envoys that are connected to this process for their limits
 * @param nodeId id of this process among the replicas that share limits; empty for that of its host
 */
public record ConcurrencyConfig(
    boolean accessLog,
    int maxSamplesPerSecond,
    boolean loadReports,
    Duration loadReportInterval,
    Duration envoyHold,
    int maxEnvoys,
    String nodeId) {}
