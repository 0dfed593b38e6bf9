package io.throttlekit.envoy.filter;

import io.throttlekit.descriptors.policy.ConcurrencyRule.AtEnvoys;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;

/**
 * Envoy's side of policies as YAML, with comments: what a configuration needs in addition to the
 * filter ({@link #parts}), or a bootstrap that runs ({@link #bootstrap}).
 */
public final class FilterText {
  /** Interval of the pings of an Envoy with this text. */
  public static final Duration PING_INTERVAL = Duration.ofSeconds(2);

  private static final String TYPE =
      "\"@type\": type.googleapis.com/envoy.extensions.filters.http.ratelimit.v3.";

  private final List<FilterActions> filters;

  /** Creates the text of filters, one for each domain. */
  public FilterText(Collection<FilterActions> filters) {
    this.filters = List.copyOf(filters);
  }

  /** Returns a YAML document for each domain, with the parts that its policies need. */
  public String parts() {
    Lines out = new Lines();
    boolean first = true;
    for (FilterActions filter : filters) {
      if (!first) {
        out.add("---");
      }
      first = false;
      out.comment("Domain " + FlowText.scalar(filter.domain()));
      gaps(filter, out);
      String none = filter.common().isEmpty() ? " []" : "";
      out.add("rate_limits:" + none + " # of the filter envoy.filters.http.ratelimit");
      lists(filter.common(), out.in());
      if (!filter.ofRoutes().isEmpty()) {
        out.add("routes: # of a virtual host");
        routes(List.of(filter), out.in());
      }
      sensors(out, List.of(filter));
    }
    return out.toString();
  }

  /**
   * Returns a complete bootstrap: Envoy listens on 10000, its admin interface on 9901, the upstream
   * on 8000 and the service on 8081, all on loopback.
   */
  public String bootstrap() {
    Lines out = new Lines();
    out.comment(
        "Start the service (bin/throttlekit serve --policies …), an upstream on port 8000, and this"
            + " Envoy.");
    out.add("admin:");
    out.add("  address: {socket_address: {address: 127.0.0.1, port_value: 9901}}");
    out.add("");
    if (needsSensors(filters)) {
      out.add("node: {id: edge-1, cluster: edge} # an id of its own for each Envoy");
      out.add("");
    }
    controlPlane(out, filters);
    out.add("static_resources:");
    listener(out.in());
    clusters(out.in());
    return out.toString();
  }

  private void listener(Lines out) {
    out.text(
        """
        listeners:
          - name: http
            address: {socket_address: {address: 127.0.0.1, port_value: 10000}}
            filter_chains:
              - filters:
                  - name: envoy.filters.network.http_connection_manager
                    typed_config:
                      "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                      stat_prefix: http
        """);
    Lines manager = out.in(7);
    accessLog(manager, filters);
    manager.text(
        """
        route_config:
          name: routes
          virtual_hosts:
            - name: all
              domains: ["*"]
              routes:
        """);
    Lines routes = manager.in(4);
    routes(filters, routes);
    List<String> others = upstreams().stream().skip(1).map(FlowText::scalar).toList();
    if (!others.isEmpty()) {
      routes.comment("Add routes to the other clusters with a limit: " + String.join(", ", others));
    }
    routes.add("- match: {prefix: /}");
    routes.add("  " + route());
    manager.add("http_filters:");
    for (FilterActions filter : filters) {
      Lines in = manager.in();
      in.add("- name: " + name(filter));
      gaps(filter, in.in(1));
      in.in(1).add("typed_config:");
      filter(filter, in.in(2));
    }
    manager.text(
        """
          - name: envoy.filters.http.router
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router
        """);
  }

  /** Returns the clusters with a concurrency limit, or one without. */
  private List<String> upstreams() {
    List<String> limited = gates(filters).stream().map(AtEnvoys::cluster).distinct().toList();
    return limited.isEmpty() ? List.of("upstream") : limited;
  }

  private String route() {
    return "route: {cluster: " + FlowText.scalar(upstreams().getFirst()) + "}";
  }

  private static void filter(FilterActions filter, Lines out) {
    out.add(TYPE + "RateLimit");
    out.add("domain: " + FlowText.scalar(filter.domain()));
    out.add("timeout: 0.1s # Envoy's default is 20 ms");
    out.add("failure_mode_deny: false # true refuses requests while the service does not answer");
    out.text(
        """
        rate_limit_service:
          transport_api_version: V3
          grpc_service:
            envoy_grpc: {cluster_name: throttlekit}
        """);
    out.in(2).text(ServiceCluster.RETRY);
    out.add("rate_limits:" + (filter.common().isEmpty() ? " []" : ""));
    lists(filter.common(), out.in());
  }

  private String name(FilterActions filter) {
    return filters.size() == 1
        ? "envoy.filters.http.ratelimit"
        : FlowText.scalar("throttlekit/" + filter.domain());
  }

  private void routes(List<FilterActions> filters, Lines out) {
    for (FilterActions filter : filters) {
      filter
          .ofRoutes()
          .forEach((choice, lists) -> {
            out.comment(choice.toString());
            String prefix =
                "/" + choice.choices().getLast().value().replaceAll("[^a-zA-Z0-9._~-]", "-");
            out.add("- match: {prefix: " + FlowText.scalar(prefix) + "} # a guess");
            out.add("  " + route());
            out.add("  typed_per_filter_config:");
            Lines in = out.in(2);
            in.add(name(filter) + ":");
            in.in().add(TYPE + "RateLimitPerRoute");
            in.in().add("rate_limits: # in place of those of the filter");
            List<ActionList> all = new ArrayList<>(lists);
            all.addAll(filter.common());
            lists(all, in.in(2));
          });
    }
  }

  private static void gaps(FilterActions filter, Lines out) {
    filter.gaps().forEach(gap -> out.comment("MISSING " + gap));
    long phases =
        Stream.concat(
                filter.common().stream(), filter.ofRoutes().values().stream().flatMap(List::stream))
            .map(ActionList::onStreamDone)
            .distinct()
            .count();
    if (phases > 1) {
      out.comment(
          "Envoy before 1.37.1, 1.36.5, 1.35.8 and 1.34.13 crashes on lists with"
              + " apply_on_stream_done beside lists without it (CVE-2026-26330).");
    }
  }

  private static void lists(List<ActionList> lists, Lines out) {
    for (ActionList list : lists) {
      list.comments().forEach(out::comment);
      String dash = "- ";
      if (list.onStreamDone()) {
        out.add(dash + "apply_on_stream_done: true");
        dash = "  ";
      }
      if (!list.hitsFormat().isEmpty()) {
        out.add(dash + "hits_addend: {format: \"" + list.hitsFormat() + "\"}");
      }
      out.add(dash + "actions:");
      for (FilledEntry entry : list.entries()) {
        String comment = entry.comment().isEmpty() ? "" : " # " + entry.comment();
        out.in(2).add("- " + FlowText.fields(entry.action()) + comment);
      }
    }
  }

  private static void sensors(Lines out, List<FilterActions> filters) {
    accessLog(out, filters);
    controlPlane(out, filters);
    for (AtEnvoys gate : gates(filters)) {
      out.comment(
          "The cluster "
              + FlowText.scalar(gate.cluster())
              + " needs circuit_breakers: the limit before the first one from the service.");
    }
  }

  private static void accessLog(Lines out, List<FilterActions> filters) {
    if (!needsSensors(filters)) {
      return;
    }
    boolean unbuffered = filters.stream().anyMatch(FilterActions::needsUnbufferedLog);
    out.text(
        """
        access_log: # of the HTTP connection manager: latencies and outcomes of requests
          - name: envoy.access_loggers.http_grpc
            typed_config:
              "@type": type.googleapis.com/envoy.extensions.access_loggers.grpc.v3.HttpGrpcAccessLogConfig
              common_config:
                log_name: throttlekit
        """);
    if (unbuffered) {
      out.add("        buffer_size_bytes: 0 # release: access_log needs each entry at once");
    }
    out.text(
        """
                transport_api_version: V3
                grpc_service: {envoy_grpc: {cluster_name: throttlekit_sensors}}
        """);
  }

  /** Adds load reports, ADS and the runtime layer with concurrency limits. */
  private static void controlPlane(Lines out, List<FilterActions> filters) {
    if (gates(filters).isEmpty()) {
      return;
    }
    out.text(
        """
        cluster_manager: # requests in progress
          load_stats_config:
            api_type: GRPC
            transport_api_version: V3
            grpc_services:
              - envoy_grpc: {cluster_name: throttlekit_sensors}

        dynamic_resources:
          ads_config:
            api_type: GRPC
            transport_api_version: V3
            grpc_services:
              - envoy_grpc:
                  cluster_name: throttlekit_sensors
                  retry_policy: {retry_back_off: {base_interval: 0.2s, max_interval: 1s}} # Envoy waits up to 30 s without it

        layered_runtime:
          layers:
            - name: concurrency_limits
              rtds_layer:
                name: concurrency_limits
                rtds_config:
                  resource_api_version: V3
                  ads: {}
                  initial_fetch_timeout: 1s # Envoy does not listen before; its default is 15 s

        """);
  }

  private void clusters(Lines out) {
    out.add("clusters:");
    serviceCluster(out.in(), "throttlekit");
    out.in(2).text(ServiceCluster.OUTLIER_DETECTION + ServiceCluster.RETRY_BUDGET);
    endpoint(out.in(), "throttlekit", 8081);
    if (needsSensors(filters)) {
      serviceCluster(out.in(), "throttlekit_sensors");
      endpoint(out.in(), "throttlekit_sensors", 18001);
    }
    for (String name : upstreams()) {
      Lines in = out.in();
      in.add("- name: " + FlowText.scalar(name));
      in.add("  connect_timeout: 1s");
      in.add("  type: STATIC");
      List<AtEnvoys> gates =
          gates(filters).stream().filter(gate -> gate.cluster().equals(name)).toList();
      if (!gates.isEmpty()) {
        in.add("  circuit_breakers:");
        in.add("    thresholds: # until the service has sent a limit");
        gates.forEach(gate -> {
          String priority = gate.highPriority() ? "HIGH" : "DEFAULT";
          in.add("      - {priority: " + priority + ", max_requests: 100} # a guess");
        });
      }
      endpoint(in, name, 8000);
    }
  }

  /** Adds what notices a replica that is gone or hangs, before the endpoints. */
  private static void serviceCluster(Lines out, String name) {
    out.add("- name: " + name);
    out.in()
        .text(
            "connect_timeout: 1s\ntype: STATIC\n"
                + ServiceCluster.http2("", ServiceCluster.KEEP_ALIVE)
                + ServiceCluster.HEALTH_CHECKS
                + ServiceCluster.CLOSE
                + ServiceCluster.LOAD_BALANCING);
  }

  private static void endpoint(Lines out, String cluster, int port) {
    out.add("  load_assignment:");
    out.add("    cluster_name: " + FlowText.scalar(cluster));
    out.add("    endpoints:");
    out.add("      - lb_endpoints:");
    out.add(
        "          - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: "
            + port
            + "}}}");
  }

  private static boolean needsSensors(List<FilterActions> filters) {
    return !gates(filters).isEmpty()
        || filters.stream().anyMatch(FilterActions::needsUnbufferedLog);
  }

  private static List<AtEnvoys> gates(List<FilterActions> filters) {
    return filters.stream().flatMap(filter -> filter.atEnvoys().stream()).distinct().toList();
  }
}
