package io.throttlekit.service.http;

import io.throttlekit.TimeSource;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.envoy.SteeringFigures;
import io.throttlekit.service.config.HttpConfig;
import io.throttlekit.service.config.HttpConfig.DebugConfig;
import io.throttlekit.service.config.HttpConfig.MetricsConfig;
import io.throttlekit.service.policies.PolicyStore;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Creates the HTTP listeners of the process; each is bound when created and answers once started.
 */
public final class HttpServers {
  /** Connections of listeners for operators and scrapes, which have few clients. */
  private static final int OPERATORS_CONNECTIONS = 64;

  private final TimeSource time;
  private final @Nullable MetricsRoute metrics;

  /**
   * Creates a factory of the process's listeners.
   *
   * @param metrics null when metrics are not served
   */
  public HttpServers(TimeSource time, @Nullable MetricsRoute metrics) {
    this.time = time;
    this.metrics = metrics;
  }

  /**
   * Creates the listener for load balancers and scrapes: {@code /healthcheck}, {@code /metrics}
   * and, where it is configured, {@code /json}.
   *
   * @param decider answers {@code /json}
   * @param maxBodyBytes maximum length of a {@code /json} request
   * @param standsIn whether {@code /json} answers as envoyproxy/ratelimit: 400 without a reason,
   *     also when no policies are loaded
   * @param serving whether this process serves
   * @throws IOException when the address cannot be bound
   */
  public HttpListener service(
      HttpConfig config,
      JsonDecider decider,
      int maxBodyBytes,
      boolean standsIn,
      BooleanSupplier serving)
      throws IOException {
    Map<String, Route> routes = new TreeMap<>();
    if (config.json()) {
      routes.put("/json", new JsonRoute(decider, config.jsonRefunds(), standsIn));
    }
    routes.put("/healthcheck", new HealthRoute(serving));
    addMetrics(routes, "/metrics");
    int bodyBytes = config.json() ? maxBodyBytes : 0;
    HttpBounds bounds = HttpBounds.of(config.maxConnections(), bodyBytes);
    return new HttpListener(config.host(), config.port(), bounds, time, routes);
  }

  /**
   * Creates the listener for operators: the policies in effect, the keys that are refused, the
   * concurrency limits, the counters, the metrics and the threads. It has no authentication, so it
   * belongs on loopback.
   *
   * @param stats the counters as text, one per line
   * @param refusals the page of recent refusals
   * @param envoys returns this replica's part in the limits of Envoys; null if it has none
   * @throws IOException when the address cannot be bound
   */
  public HttpListener debug(
      DebugConfig config,
      PolicyStore policies,
      Supplier<String> store,
      Supplier<List<String>> stats,
      Supplier<String> refusals,
      ConcurrencyLimiter limiter,
      @Nullable Supplier<SteeringFigures> envoys)
      throws IOException {
    Map<String, Route> routes = new TreeMap<>();
    routes.put("/rlconfig", new PoliciesRoute(policies, store, time));
    routes.put("/concurrency", new ConcurrencyRoute(limiter.limits(), envoys, time));
    routes.put("/stats", shared(() -> lines(stats.get())));
    routes.put("/refusals", shared(refusals));
    routes.put("/debug/threads", shared(ThreadDump::text));
    addMetrics(routes, "/metrics");
    Reply index = Reply.text(200, lines(routes.keySet().stream().map(HttpServers::entry).toList()));
    routes.put("/", _ -> index);
    return listener(config.host(), config.port(), routes);
  }

  /**
   * Creates a listener for Prometheus only, at the path where envoyproxy/ratelimit's scrape jobs
   * expect it.
   *
   * @throws IOException when the address cannot be bound
   */
  public HttpListener metrics(MetricsConfig config) throws IOException {
    Map<String, Route> routes = new TreeMap<>();
    addMetrics(routes, config.path());
    return listener(config.host(), config.port(), routes);
  }

  private HttpListener listener(String host, int port, Map<String, Route> routes)
      throws IOException {
    HttpBounds bounds = HttpBounds.of(OPERATORS_CONNECTIONS, 0);
    return new HttpListener(host, port, bounds, time, routes);
  }

  private void addMetrics(Map<String, Route> routes, String path) {
    if (metrics != null) {
      routes.put(path, metrics);
    }
  }

  private Route shared(Supplier<String> text) {
    SharedPage page = new SharedPage(() -> Reply.text(200, text.get()), time);
    return _ -> page.get();
  }

  /** Returns a line of the index of the debug listener. */
  private static String entry(String path) {
    String what =
        switch (path) {
          case "/rlconfig" -> "the policies in effect, the last load and its problems, the store";
          case "/refusals" -> "who is limited: the keys that were refused most in the last minutes";
          case "/concurrency" ->
              "the limits of requests in flight, their replicas, tenants, Envoys";
          case "/stats" -> "the counters of each rule, by the names of envoyproxy/ratelimit";
          case "/metrics" -> "the metrics for Prometheus";
          case "/debug/threads" -> "the stacks of all threads";
          default -> "";
        };
    return "%-15s %s".formatted(path, what).stripTrailing();
  }

  private static String lines(List<String> lines) {
    return lines.isEmpty() ? "" : String.join("\n", lines) + "\n";
  }

  /** Reports whether the process serves; answered on the event loop, so that it never waits. */
  private record HealthRoute(BooleanSupplier serving) implements Route {
    @Override
    public Reply answer(HttpQuery query) {
      return serving.getAsBoolean() ? Reply.text(200, "OK") : Reply.empty(500);
    }

    @Override
    public boolean immediate() {
      return true;
    }
  }
}
