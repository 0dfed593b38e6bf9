package io.throttlekit.bench.failover;

import java.util.List;

/**
 * Settings of Envoy that differ between the rows of the table.
 *
 * @param name in the table
 * @param cluster fields of the service's cluster
 * @param retry fields of the filter's {@code grpc_service}; empty for none
 */
record CallSettings(String name, String cluster, String retry) {
  static final String KEEP_ALIVE = "connection_keepalive: {interval: 2s, timeout: 2s}";
  private static final String PINGS = http2("", KEEP_ALIVE);
  private static final String CHECKS =
      """
      health_checks:
        - {interval: 1s, timeout: 1s, no_traffic_interval: 1s, unhealthy_threshold: 2, healthy_threshold: 1, grpc_health_check: {}}
      """;
  private static final String NO_PANIC =
      "common_lb_config: {healthy_panic_threshold: {value: 0}}\n";
  private static final String AT_ONCE =
      "common_lb_config: {healthy_panic_threshold: {value: 0}, update_merge_window: 0s}\n";
  private static final String CLOSE = "close_connections_on_host_health_failure: true\n";
  static final String OUTLIERS =
      """
      outlier_detection:
        split_external_local_origin_errors: true
        consecutive_local_origin_failure: 3
        enforcing_local_origin_success_rate: 0
        enforcing_consecutive_5xx: 0
        enforcing_consecutive_gateway_failure: 0
        enforcing_success_rate: 0
        max_ejection_percent: 10
        always_eject_one_host: true
        base_ejection_time: 5s
        interval: 1s
      """;
  static final String BUDGET =
      """
      circuit_breakers:
        thresholds:
          - {retry_budget: {budget_percent: {value: 25}, min_retry_concurrency: 10}}
      """;
  static final String CHECKED = AT_ONCE + CHECKS + CLOSE + PINGS;

  private static final String NOT_SENT = "connect-failure,refused-stream,reset-before-request";

  /** Calls that no replica has read, and no others, are sent again. */
  static final String RETRY_NOT_SENT = retry(NOT_SENT, "10s");

  /** A call without an answer is sent again after half of the filter's timeout. */
  static final String RETRY_ALL = retry("connect-failure,refused-stream,reset", "@HALF@");

  /** All rows, in their order. */
  static final List<CallSettings> ALL =
      List.of(
          new CallSettings("none", http2("", ""), ""),
          new CallSettings("health checks", NO_PANIC + CHECKS + http2("", ""), ""),
          new CallSettings("health checks, pings", NO_PANIC + CHECKS + PINGS, ""),
          new CallSettings("A: these, applied at once", CHECKED, ""),
          new CallSettings(
              "A, checks each 0.5 s",
              CHECKED.replace("interval: 1s, timeout: 1s", "interval: 0.5s, timeout: 0.5s"),
              ""),
          new CallSettings(
              "A, preconnect, `max_requests_per_connection`",
              AT_ONCE
                  + CHECKS
                  + CLOSE
                  + "preconnect_policy: {per_upstream_preconnect_ratio: 2}\n"
                  + http2(
                      "common_http_protocol_options: {max_requests_per_connection: 100}",
                      KEEP_ALIVE),
              ""),
          new CallSettings("A, retry of calls not sent", CHECKED + BUDGET, RETRY_NOT_SENT),
          new CallSettings("B: A, outlier detection", CHECKED + OUTLIERS, ""),
          new CallSettings(
              "**C: B, retry of calls not sent**", CHECKED + OUTLIERS + BUDGET, RETRY_NOT_SENT),
          new CallSettings(
              "D: B, retry after half of the timeout", CHECKED + OUTLIERS + BUDGET, RETRY_ALL));

  /**
   * @param tryTimeout timeout of each try: Envoy derives it from the longest back-off
   */
  private static String retry(String on, String tryTimeout) {
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

  private static String http2(String common, String options) {
    return """
    typed_extension_protocol_options:
      envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
        "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
        %s
        explicit_http_config: {http2_protocol_options: {%s}}
    """
        .formatted(common, options);
  }
}
