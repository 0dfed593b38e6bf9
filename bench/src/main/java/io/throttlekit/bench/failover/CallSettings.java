package io.throttlekit.bench.failover;

import io.throttlekit.envoy.filter.ServiceCluster;
import java.util.List;

/**
 * Settings of Envoy that differ between the rows of the table.
 *
 * @param name in the table
 * @param cluster fields of the service's cluster
 * @param retry fields of the filter's {@code grpc_service}; empty for none
 */
record CallSettings(String name, String cluster, String retry) {
  private static final String PLAIN = ServiceCluster.http2("", "");
  private static final String PINGS = ServiceCluster.http2("", ServiceCluster.KEEP_ALIVE);
  private static final String NO_PANIC =
      "common_lb_config: {healthy_panic_threshold: {value: 0}}\n";
  private static final String CHECKS = ServiceCluster.HEALTH_CHECKS;
  private static final String UNPINGED =
      ServiceCluster.LOAD_BALANCING + CHECKS + ServiceCluster.CLOSE;
  private static final String BUDGET = ServiceCluster.RETRY_BUDGET;
  static final String CHECKED = UNPINGED + PINGS;
  static final String RECOMMENDED = CHECKED + ServiceCluster.OUTLIER_DETECTION + BUDGET;

  /** A call without an answer is sent again after half of the filter's timeout. */
  static final String RETRY_ALL =
      ServiceCluster.retry("connect-failure,refused-stream,reset", "@HALF@");

  /** All rows, in their order. */
  static final List<CallSettings> ALL =
      List.of(
          new CallSettings("none", PLAIN, ""),
          new CallSettings("health checks", NO_PANIC + CHECKS + PLAIN, ""),
          new CallSettings("health checks, pings", NO_PANIC + CHECKS + PINGS, ""),
          new CallSettings("A: these, applied at once", CHECKED, ""),
          new CallSettings(
              "A, checks each 0.5 s",
              CHECKED.replace("interval: 1s, timeout: 1s", "interval: 0.5s, timeout: 0.5s"),
              ""),
          new CallSettings(
              "A, preconnect, `max_requests_per_connection`",
              UNPINGED
                  + "preconnect_policy: {per_upstream_preconnect_ratio: 2}\n"
                  + ServiceCluster.http2(
                      "common_http_protocol_options: {max_requests_per_connection: 100}",
                      ServiceCluster.KEEP_ALIVE),
              ""),
          new CallSettings("A, retry of calls not sent", CHECKED + BUDGET, ServiceCluster.RETRY),
          new CallSettings(
              "B: A, outlier detection", CHECKED + ServiceCluster.OUTLIER_DETECTION, ""),
          new CallSettings("**C: B, retry of calls not sent**", RECOMMENDED, ServiceCluster.RETRY),
          new CallSettings("D: B, retry after half of the timeout", RECOMMENDED, RETRY_ALL));
}
