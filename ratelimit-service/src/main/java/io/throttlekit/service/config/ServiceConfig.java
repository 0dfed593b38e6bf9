package io.throttlekit.service.config;

import org.jspecify.annotations.Nullable;

/**
 * Everything that can be configured of one process.
 *
 * @param policies where policies are read and how often
 * @param grpc the gRPC listener
 * @param http the HTTP listener for {@code /json}, {@code /healthcheck} and {@code /metrics}
 * @param debug the HTTP listener for operators
 * @param metrics a listener of its own for metrics; absent when the others do
 * @param store where counters live
 * @param federation how limits are shared with other regions; absent when they are not
 * @param concurrency how this process hears what becomes of requests
 * @param sensors the listener by which it does
 * @param response what an answer carries besides its statuses
 * @param compatibility where envoyproxy/ratelimit decides differently
 * @param telemetry metrics, traces and logs
 * @param health when the process calls itself healthy
 * @param warmUp what happens before the process says that it serves
 * @param extAuthz how requests of external authorization are described; absent when there are none
 */
public record ServiceConfig(
    PolicyConfig policies,
    GrpcConfig grpc,
    HttpConfig http,
    DebugConfig debug,
    @Nullable MetricsConfig metrics,
    StoreConfig store,
    @Nullable FederationConfig federation,
    ConcurrencyConfig concurrency,
    SensorsConfig sensors,
    ResponseConfig response,
    CompatibilityConfig compatibility,
    TelemetryConfig telemetry,
    HealthConfig health,
    WarmUpConfig warmUp,
    @Nullable ExtAuthzConfig extAuthz) {

  /** What is in force when nothing is configured. */
  public static ServiceConfig defaults() {
    return new ServiceConfig(
        PolicyConfig.defaults(),
        GrpcConfig.defaults(),
        HttpConfig.defaults(),
        DebugConfig.defaults(),
        null,
        StoreConfig.defaults(),
        null,
        ConcurrencyConfig.defaults(),
        SensorsConfig.defaults(),
        ResponseConfig.defaults(),
        CompatibilityConfig.defaults(),
        TelemetryConfig.defaults(),
        HealthConfig.defaults(),
        WarmUpConfig.defaults(),
        null);
  }
}
