package io.throttlekit.service.config;

import io.throttlekit.service.config.HttpConfig.DebugConfig;
import io.throttlekit.service.config.HttpConfig.MetricsConfig;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Configuration of one process.
 *
 * @param policies where policies are read and how often
 * @param grpc the gRPC listener
 * @param http the HTTP listener for {@code /json}, {@code /healthcheck} and {@code /metrics}
 * @param debug the HTTP listener for operators
 * @param metrics a separate listener for metrics; absent when the others serve them
 * @param store the store for counters
 * @param federation limits shared with other regions; absent for none
 * @param concurrency concurrency limits and the signals they are computed from
 * @param sensors the listener for these signals
 * @param response headers, body and metadata of responses
 * @param compatibility switches for behaviour of envoyproxy/ratelimit
 * @param telemetry metrics, traces and logs
 * @param health conditions for reporting healthy
 * @param warmUp work before the process reports that it serves
 * @param extAuthz descriptors of requests of external authorization; absent when it is not served
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

  /** Shorter values of headers, such as the number of a tenant, are no tokens. */
  private static final int MIN_TOKEN_LENGTH = 8;

  /** Returns all texts that no output may show: passwords, and tokens in headers. */
  public List<String> secrets() {
    List<String> secrets = new ArrayList<>(store.access().secrets());
    if (store.perSecond() != null) {
      secrets.addAll(store.perSecond().access().secrets());
    }
    if (federation != null) {
      secrets.addAll(federation.access().secrets());
    }
    List<String> headers = new ArrayList<>(telemetry.metricExport().headers().values());
    headers.addAll(telemetry.spanExport().headers().values());
    if (policies.xds() != null) {
      headers.addAll(policies.xds().headers().values());
    }
    headers.stream()
        // "Bearer TOKEN"
        .flatMap(header -> Stream.of(header, header.substring(header.lastIndexOf(' ') + 1)))
        .filter(token -> token.length() >= MIN_TOKEN_LENGTH)
        .forEach(secrets::add);
    return secrets;
  }

  /**
   * Conditions under which the process reports healthy.
   *
   * @param storeMustBeReachable whether an unreachable store makes it unhealthy
   * @param needsPolicies whether it is unhealthy while the loaded policies have no domain
   * @param readyWithoutPolicies whether it may be healthy before any policies were loaded, although
   *     every call fails until then
   */
  public record HealthConfig(
      boolean storeMustBeReachable, boolean needsPolicies, boolean readyWithoutPolicies) {}

  /**
   * Configuration of the warm-up before the process reports that it serves.
   *
   * @param requests synthetic requests that the process sends to itself; 0 for none
   */
  public record WarmUpConfig(int requests) {}
}
