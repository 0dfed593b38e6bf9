package io.throttlekit.service.fleet;

import io.throttlekit.testkit.envoy.EnvoyProcess;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.net.ReservedPort;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Collectors;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * Requests at a steady rate to a real Envoy, which calls the healthy ones of several replicas and
 * fails requests that it has no decision for.
 */
final class EnvoyCalls implements AutoCloseable {
  private static final long TICK_MILLIS = 10;
  private static final String BOOTSTRAP =
      """
      admin: {address: {socket_address: {address: 127.0.0.1, port_value: 0}}}
      static_resources:
        listeners:
          - name: http
            address: {socket_address: {address: 127.0.0.1, port_value: 0}}
            filter_chains:
              - filters:
                  - name: envoy.filters.network.http_connection_manager
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                      stat_prefix: http
                      route_config:
                        virtual_hosts:
                          - name: all
                            domains: ["*"]
                            routes:
                              - match: {prefix: /}
                                route:
                                  cluster: upstream
                                  rate_limits:
                                    - actions:
                                        - {generic_key: {descriptor_key: strict, descriptor_value: a}}
                      http_filters:
                        - name: envoy.filters.http.ratelimit
                          typed_config:
                            "@type": type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.RateLimit
                            domain: fleet
                            timeout: 120s
                            failure_mode_deny: true
                            rate_limit_service:
                              transport_api_version: V3
                              grpc_service: {envoy_grpc: {cluster_name: throttlekit}}
                        - name: envoy.filters.http.router
                          typed_config:
                            "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
          - name: upstream
            address: {socket_address: {address: 127.0.0.1, port_value: @UPSTREAM@}}
            filter_chains:
              - filters:
                  - name: envoy.filters.network.http_connection_manager
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                      stat_prefix: upstream
                      route_config:
                        virtual_hosts:
                          - name: all
                            domains: ["*"]
                            routes: [{match: {prefix: /}, direct_response: {status: 200}}]
                      http_filters:
                        - name: envoy.filters.http.router
                          typed_config:
                            "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
        clusters:
          - name: upstream
            type: STATIC
            load_assignment:
              cluster_name: upstream
              endpoints:
                - lb_endpoints:
                    - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: @UPSTREAM@}}}
          - name: throttlekit
            type: STATIC
            connect_timeout: 60s
            circuit_breakers: {thresholds: [{max_requests: 100000, max_pending_requests: 100000}]}
            typed_extension_protocol_options:
              envoy.extensions.upstreams.http.v3.HttpProtocolOptions:
                "@type": type.googleapis.com/envoy.extensions.upstreams.http.v3.HttpProtocolOptions
                explicit_http_config: {http2_protocol_options: {}}
            health_checks:
              - {interval: 0.1s, timeout: 60s, no_traffic_interval: 0.1s, unhealthy_threshold: 2, healthy_threshold: 1,
                 grpc_health_check: {}}
            outlier_detection: {split_external_local_origin_errors: true, enforcing_consecutive_5xx: 0}
            common_lb_config: {healthy_panic_threshold: {value: 0}, update_merge_window: 0s}
            load_assignment:
              cluster_name: throttlekit
              endpoints: [{lb_endpoints: [@REPLICAS@]}]
      """;

  private final ReservedPort upstream = ReservedPort.take();
  private final EnvoyProcess envoy;
  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final ConcurrentMap<String, Integer> failures = new ConcurrentHashMap<>();
  private final AtomicLong underWay = new AtomicLong();
  private final ScheduledExecutorService ticks = Executors.newSingleThreadScheduledExecutor();

  /** Starts an Envoy in front of these ports, waits until all are healthy, and begins to send. */
  EnvoyCalls(List<Integer> ports, Path folder) throws IOException {
    String replicas =
        ports.stream()
            .map(
                "{endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: %d}}}}"
                    ::formatted)
            .collect(Collectors.joining(", "));
    String bootstrap =
        BOOTSTRAP
            .replace("@REPLICAS@", replicas)
            .replace("@UPSTREAM@", Integer.toString(upstream.number()));
    this.envoy = EnvoyProcess.start(EnvoyProgram.path(), bootstrap, folder);
    awaitHealthy(ports.size());
    var _ = ticks.scheduleAtFixedRate(this::send, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Waits until Envoy calls so many replicas. */
  void awaitHealthy(int replicas) {
    String healthy = "cluster.throttlekit.membership_healthy: " + replicas + "\n";
    Awaitility.await("healthy replicas")
        .until(() -> envoy.admin("/stats?filter=membership_healthy").contains(healthy));
  }

  /** Stops sending, and waits for the last answers. */
  void stop() {
    ticks.close();
    Awaitility.await("the last answers").until(() -> underWay.get() == 0);
  }

  /** Returns how many decisions Envoy has received. */
  long decided() throws IOException {
    String stat = envoy.admin("/stats?filter=cluster.upstream.ratelimit.ok").strip();
    return stat.isEmpty() ? 0 : Long.parseLong(stat.substring(stat.lastIndexOf(' ') + 1));
  }

  /** Returns the number of requests without a 200, by the reason. */
  Map<String, Integer> failures() {
    return failures;
  }

  /** Returns what Envoy counted of the replicas, a line each. */
  String counted() throws IOException {
    return envoy.admin("/stats?usedonly&filter=cluster.throttlekit%7Cratelimit");
  }

  @Override
  public void close() {
    ticks.shutdownNow();
    http.shutdownNow();
    envoy.close();
    upstream.close();
  }

  private void send() {
    underWay.incrementAndGet();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + envoy.port() + "/")).build();
    var _ = http.sendAsync(request, BodyHandlers.discarding()).whenComplete(this::answered);
  }

  private void answered(@Nullable HttpResponse<Void> response, @Nullable Throwable failure) {
    String result = response == null ? String.valueOf(failure) : "" + response.statusCode();
    if (!result.equals("200")) {
      failures.merge(result, 1, Integer::sum);
    }
    underWay.decrementAndGet();
  }
}
