package io.throttlekit.service.http;

import io.throttlekit.service.config.DebugConfig;
import io.throttlekit.service.config.HttpConfig;
import io.throttlekit.service.config.MetricsConfig;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.telemetry.Scrape;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The HTTP servers of the process; each is bound when it is made and answers once started. */
public final class HttpServers {

  private HttpServers() {}

  /**
   * For callers and load balancers: {@code /json}, {@code /healthcheck} and {@code /metrics}.
   *
   * @param decider answers {@code /json}
   * @param maxBodyBytes longest request that {@code /json} reads
   * @param standsIn whether {@code /json} answers as envoyproxy/ratelimit: a 400 without a reason,
   *     also when there is nothing to decide by
   * @param serving whether this process serves
   * @param scrape null when metrics are not served
   * @throws IOException when the address cannot be bound
   */
  public static HttpListener service(
      HttpConfig config,
      JsonDecider decider,
      int maxBodyBytes,
      boolean standsIn,
      BooleanSupplier serving,
      @Nullable Scrape scrape)
      throws IOException {
    Map<String, Route> routes = new TreeMap<>();
    routes.put("/json", new JsonRoute(decider, maxBodyBytes, standsIn));
    routes.put(
        "/healthcheck",
        request -> serving.getAsBoolean() ? Reply.text(200, "OK") : Reply.empty(500));
    addMetrics(routes, "/metrics", scrape);
    return new HttpListener(config.host(), config.port(), routes);
  }

  /**
   * For operators: the policies in force, the counters, the metrics and the threads. It tells much
   * and asks for no password, so it belongs on loopback.
   *
   * @param stats the counters as text, one per line
   * @param scrape null when metrics are not served
   * @throws IOException when the address cannot be bound
   */
  public static HttpListener debug(
      DebugConfig config,
      PolicyStore policies,
      Supplier<String> store,
      Supplier<List<String>> stats,
      @Nullable Scrape scrape)
      throws IOException {
    Map<String, Route> routes = new TreeMap<>();
    routes.put("/rlconfig", new PoliciesRoute(policies, store));
    routes.put("/stats", request -> Reply.text(200, lines(stats.get())));
    routes.put("/debug/threads", request -> Reply.text(200, ThreadDump.text()));
    addMetrics(routes, "/metrics", scrape);
    routes.put("/", index(routes.keySet().stream().toList()));
    return new HttpListener(config.host(), config.port(), routes);
  }

  /**
   * For Prometheus alone, where envoyproxy/ratelimit's scrape jobs look for it.
   *
   * @throws IOException when the address cannot be bound
   */
  public static HttpListener metrics(MetricsConfig config, Scrape scrape) throws IOException {
    Map<String, Route> routes = new TreeMap<>();
    addMetrics(routes, config.path(), scrape);
    return new HttpListener(config.host(), config.port(), routes);
  }

  private static void addMetrics(Map<String, Route> routes, String path, @Nullable Scrape scrape) {
    if (scrape != null) {
      routes.put(
          path,
          request -> {
            Scrape.Page page = scrape.page(request.getRequestHeaders().getFirst("Accept"));
            return new Reply(200, page.contentType(), page.body());
          });
    }
  }

  private static Route index(List<String> paths) {
    String text = lines(paths);
    return request -> Reply.text(200, text);
  }

  private static String lines(List<String> lines) {
    return lines.isEmpty() ? "" : String.join("\n", lines) + "\n";
  }
}
