package io.throttlekit.service.config;

import java.nio.file.Path;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of metrics, traces and logs.
 *
 * @param prometheus whether {@code /metrics} is served
 * @param otlpMetrics whether metrics are pushed over OTLP
 * @param tracing whether decisions are traced
 * @param samplingRatio share of sampled traces among those begun here, from 0 to 1
 * @param traceDescriptors whether spans contain the descriptors of requests; otherwise hashes of
 *     their counters
 * @param metricExport export of metrics over OTLP
 * @param spanExport export of spans over OTLP
 * @param serviceName the process's service name
 * @param logLevel {@code trace}, {@code debug}, {@code info}, {@code warn} or {@code error}
 * @param logFormat {@code text} or {@code json}
 * @param nearLimitRatio share of a limit from which a charge counts as near it, from 0 to 1
 * @param maxSeries maximum number of series named by requests, and of unknown domains; rules whose
 *     series have fixed names are kept in addition
 * @param refusalLogInterval interval of log lines about the keys that are refused most; 0 for none
 * @param serviceNamespace namespace of the service name; empty for none
 * @param serviceInstance id of this process in telemetry; empty for its id among the replicas
 * @param metricMappings file with other names for the metrics of envoyproxy/ratelimit; null for
 *     none
 * @param statsd server that receives statistics; null for none
 */
public record TelemetryConfig(
    boolean prometheus,
    boolean otlpMetrics,
    boolean tracing,
    double samplingRatio,
    boolean traceDescriptors,
    OtlpConfig metricExport,
    OtlpConfig spanExport,
    String serviceName,
    String logLevel,
    String logFormat,
    double nearLimitRatio,
    int maxSeries,
    Duration refusalLogInterval,
    String serviceNamespace,
    String serviceInstance,
    @Nullable Path metricMappings,
    @Nullable StatsdConfig statsd) {}
