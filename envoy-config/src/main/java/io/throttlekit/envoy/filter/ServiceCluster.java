package io.throttlekit.envoy.filter;

/**
 * Fields of a bootstrap by which an Envoy notices that a replica of the service is gone or hangs,
 * and sends a call that no replica has read to another one: YAML, each ends with a line break.
 */
public final class ServiceCluster {
  /** A field of {@code http2_protocol_options} without the line break: pings. */
  public static final String KEEP_ALIVE = "connection_keepalive: {interval: 2s, timeout: 2s}";

  /** Health checks of the cluster. */
  public static final String HEALTH_CHECKS =
      """
      health_checks:
        - {interval: 1s, timeout: 1s, no_traffic_interval: 1s, unhealthy_threshold: 2, healthy_threshold: 1, grpc_health_check: {}}
      """;

  /** Closes connections to a replica whose checks fail. */
  public static final String CLOSE = "close_connections_on_host_health_failure: true\n";

  /** Calls no unhealthy replica while there is none other, and applies a change at once. */
  public static final String LOAD_BALANCING =
      "common_lb_config: {healthy_panic_threshold: {value: 0}, update_merge_window: 0s}\n";

  /** Excludes a replica to which calls fail. */
  public static final String OUTLIER_DETECTION =
      """
      outlier_detection: # a replica that is killed or hangs, before the checks notice; answers with errors do not count
        split_external_local_origin_errors: true
        consecutive_local_origin_failure: 3
        enforcing_local_origin_success_rate: 0
        enforcing_consecutive_5xx: 0
        enforcing_consecutive_gateway_failure: 0
        enforcing_success_rate: 0
        max_ejection_percent: 50 # at most half of the replicas, never the only one
        always_eject_one_host: false
        base_ejection_time: 5s
        interval: 1s
      """;

  /** Bounds retries. */
  public static final String RETRY_BUDGET =
      """
      circuit_breakers:
        thresholds:
          - {retry_budget: {budget_percent: {value: 25}, min_retry_concurrency: 10}}
      """;

  /** Failures of calls that no replica has read. */
  private static final String NOT_SENT = "connect-failure,refused-stream,reset-before-request";

  /** A field of {@code grpc_service}: sends calls that no replica has read to another one. */
  public static final String RETRY =
      retry(NOT_SENT, "10s")
          .replace(
              "retry_policy:",
              "retry_policy: # a call that no replica has read is sent to another one: none is"
                  + " counted twice")
          .replace("10s}", "10s} # max_interval is also the timeout of each try");

  private ServiceCluster() {}

  /**
   * Returns a field of {@code grpc_service} that sends a failed call to another replica, once.
   *
   * @param on failures after which a call is sent again
   * @param tryTimeout timeout of each try: Envoy derives it from the longest back-off
   */
  public static String retry(String on, String tryTimeout) {
    return """
    retry_policy:
      retry_on: %s
      num_retries: 1
      retry_back_off: {base_interval: 0.001s, max_interval: %s}
      retry_host_predicate:
        - name: envoy.retry_host_predicates.previous_hosts
          typed_config: {"@type": type.googleapis.com/envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate}
      host_selection_retry_max_attempts: 5
    """
        .formatted(on, tryTimeout);
  }

  /**
   * Returns the field of a cluster that uses HTTP/2.
   *
   * @param common more fields of its protocol options, on one line; empty for none
   * @param options fields of its {@code http2_protocol_options}
   */
  public static String http2(String common, String options) {
    return """
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
    %s    explicit_http_config: {http2_protocol_options: {%s}}
    """
        .formatted(common.isEmpty() ? "" : "    " + common + "\n", options);
  }
}
