package io.throttlekit.service.envoy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.Struct;
import com.google.protobuf.Value;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc.RateLimitServiceImplBase;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.api.OpenTelemetry;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.envoy.EnvoyWiring;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.PermitEnd;
import io.throttlekit.service.concurrency.RecordingConcurrencyListener;
import io.throttlekit.service.concurrency.envoy.AccessLogReleases;
import io.throttlekit.service.concurrency.sensors.AccessLogs;
import io.throttlekit.service.concurrency.sensors.ClusterLoad;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.service.concurrency.sensors.LoadReports;
import io.throttlekit.service.concurrency.sensors.OutcomeListener;
import io.throttlekit.service.concurrency.sensors.Reading;
import io.throttlekit.service.concurrency.sensors.Recorded;
import io.throttlekit.service.concurrency.sensors.Recorded.EndedStream;
import io.throttlekit.service.telemetry.AccessLogMetrics;
import io.throttlekit.service.telemetry.LoadReportMetrics;
import io.throttlekit.testkit.AwaitLimit;
import io.throttlekit.testkit.net.ReservedPort;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Access log and load reports of a real Envoy for requests that end in every way. */
@MeshTest
class EnvoySensorsTest {
  private static final String LOGGED =
      "lease: {release: access_log, flush_interval: 0, service_time: 1s}";
  private static final String ROUTES =
      """
      - match: {prefix: /direct}
        direct_response: {status: 200}
      - match: {prefix: /slow}
        route: {cluster: upstream, timeout: 1s}
      - match: {prefix: /again}
        route: {cluster: upstream, retry_policy: {retry_on: 5xx, num_retries: 1}}
      - match: {prefix: /small}
        route: {cluster: small, timeout: 0s}
      - match: {prefix: /queue}
        route: {cluster: queue}
      - match: {prefix: /nobody}
        route: {cluster: nobody}
      - match: {prefix: /}
        route: {cluster: upstream, timeout: 0s}
      """;

  @TempDir Path folder;
  private final ReservedPort closed = ReservedPort.take();
  private final Recorded recorded = new Recorded();
  private final RecordingConcurrencyListener limiterEvents = new RecordingConcurrencyListener();
  private final ConcurrencyLimiter concurrencyLimiter =
      new ConcurrencyLimiter(TimeSource.system(), (_, _) -> {}, limiterEvents, () -> 1_000);
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private Upstream upstream;
  private Server server;
  private int seen;

  @BeforeEach
  void start() throws IOException {
    upstream = Upstream.start();
    var meter = OpenTelemetry.noop().getMeter("test");
    // the releases first: a test that awaits the records sees both
    OutcomeListener sensed = new AccessLogReleases(concurrencyLimiter.permits()).andThen(recorded);
    server =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .directExecutor()
            .addService(new Limiter())
            .addService(new HealthStatusManager().getHealthService())
            .addService(
                new AccessLogs(
                    sensed, new AccessLogMetrics(meter, () -> true), TimeSource.system(), 1_000))
            .addService(
                new LoadReports(
                    recorded,
                    new LoadReportMetrics(meter),
                    TimeSource.system(),
                    Duration.ofMillis(100)))
            .build()
            .start();
  }

  @AfterEach
  void stop() throws InterruptedException {
    client.shutdownNow();
    server.shutdownNow().awaitTermination(5, TimeUnit.MINUTES);
    upstream.close();
    closed.close();
  }

  @Test
  void reportsTheOutcomeOfEachRequestAndHowManyAreInProgress() throws Exception {
    assumeThat(new MeshEnvoy().version())
        .as("Envoy 1.36 reports requests in progress only beside new ones")
        .doesNotMatch("(.*\\D)?1\\.36\\..*");
    try (EnvoyUnderTest envoy = EnvoyUnderTest.start(this::bootstrap, folder)) {
      Reading answered = of(envoy, "/", 200, Kind.ANSWERED);
      assertThat(answered.rttNanos()).isPositive();
      assertThat(answered.marked()).isTrue();
      Recorded.Ended first = recorded.ended.getFirst();
      assertThat(first.node()).isEqualTo("edge-1");
      assertThat(first.beganNanos()).isLessThanOrEqualTo(first.arrivedNanos());
      of(envoy, "/?503", 503, Kind.SHED);
      of(envoy, "/?429", 429, Kind.SHED);
      of(envoy, "/?500", 500, Kind.SERVER_ERROR);
      of(envoy, "/?404", 404, Kind.ANSWERED);
      of(envoy, "/again?503", 503, Kind.RETRIED);
      of(envoy, "/slow?hold", 504, Kind.TIMED_OUT);
      assertThat(of(envoy, "/nobody", 503, Kind.CONNECTION_FAILED).cluster()).isEqualTo("nobody");
      assertThat(of(envoy, "/queue", 503, Kind.QUEUE_FULL).cluster()).isEmpty();
      assertThat(of(envoy, "/direct", 200, Kind.LOCAL_REPLY).permits()).isEmpty();
      Reading limited = of(envoy, "/", 429, Kind.RATE_LIMITED, "x-refuse", "yes");
      assertThat(limited.permits()).isEmpty();
      aClientThatLeaves(envoy);
      assertThat(concurrencyLimiter.permits().size()).isZero();

      List<CompletableFuture<HttpResponse<Void>>> held =
          List.of(send(envoy, "/?hold"), send(envoy, "/?hold"), send(envoy, "/small?hold"));
      await().until(() -> load("upstream") == 2 && load("small") == 1);
      assertThat(concurrencyLimiter.permits().size()).isEqualTo(3);
      Reading refused = of(envoy, "/small", 503, Kind.LIMIT_REACHED);
      assertThat(refused.cluster()).isEqualTo("small");
      await().until(() -> small(ClusterLoad::dropped) == 1 && small(ClusterLoad::failed) == 1);
      assertThat(small(ClusterLoad::issued))
          .as("a refusal is an error, and was never issued")
          .isOne();
      assertThat(load("small")).isEqualTo(1);
      upstream.letGo();
      held.forEach(response -> assertThat(response.join().statusCode()).isEqualTo(200));
      await().until(() -> load("upstream") == 0 && load("small") == 0);
      await().until(() -> concurrencyLimiter.permits().size() == 0);
    }
    assertThat(limiterEvents.ends)
        .hasSize(limiterEvents.leased.get())
        .containsOnly(PermitEnd.ACCESS_LOG);
    await().until(() -> recorded.left.equals(List.of(new EndedStream("edge-1", 1))));
  }

  private void aClientThatLeaves(EnvoyUnderTest envoy) throws IOException {
    int before = upstream.requests();
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), envoy.port())) {
      byte[] request =
          "GET /?hold HTTP/1.1\r\nhost: mesh\r\n\r\n".getBytes(StandardCharsets.US_ASCII);
      socket.getOutputStream().write(request);
      await().until(() -> upstream.requests() > before);
    }
    assertThat(next().kind()).isEqualTo(Kind.CLIENT_LEFT);
  }

  /** The reading of one request. */
  private Reading of(
      EnvoyUnderTest envoy, String path, int status, Kind expected, String... headers)
      throws Exception {
    assertThat(send(envoy, path, headers).get().statusCode()).as("%s", path).isEqualTo(status);
    Reading reading = next();
    assertThat(reading.kind()).as("%s: %s", path, reading).isEqualTo(expected);
    return reading;
  }

  private Reading next() {
    await().until(() -> recorded.ended.size() > seen);
    return recorded.ended.get(seen++).reading();
  }

  private CompletableFuture<HttpResponse<Void>> send(
      EnvoyUnderTest envoy, String path, String... headers) {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + envoy.port() + path));
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.sendAsync(request.build(), BodyHandlers.discarding());
  }

  /** Returns the requests in progress of a cluster by the last report; −1 if there is none. */
  private long load(String cluster) {
    return List.copyOf(recorded.reports).reversed().stream()
        .map(Recorded.Report::load)
        .filter(load -> load.cluster().equals(cluster))
        .mapToLong(ClusterLoad::inProgress)
        .findFirst()
        .orElse(-1);
  }

  /** A sum over all reports of the small cluster. */
  private long small(ToLongFunction<ClusterLoad> number) {
    return List.copyOf(recorded.reports).stream()
        .map(Recorded.Report::load)
        .filter(load -> load.cluster().equals("small"))
        .mapToLong(number)
        .sum();
  }

  private String bootstrap(int listenerPort, int adminPort) {
    return EnvoyExample.CONCURRENCY_LIMIT
            .bootstrap(
                new EnvoyWiring(
                    listenerPort,
                    adminPort,
                    server.getPort(),
                    server.getPort(),
                    upstream.port(),
                    AwaitLimit.LIMIT,
                    Path.of("/dev/null")))
            .replaceFirst("(?s)dynamic_resources:.*?static_resources:", "static_resources:")
            .replace(
                "log_name: throttlekit\n",
                "log_name: throttlekit\n" + " ".repeat(24) + "buffer_size_bytes: 0\n")
            .replaceFirst(
                " +- match: \\{prefix: /}\n +route: \\{cluster: upstream, timeout: 0s}\n",
                ROUTES.indent(24))
            .replaceFirst(
                "( +)(- generic_key: \\{descriptor_key: backend, descriptor_value: upstream}\n)",
                "$1$2"
                    + " ".repeat(24)
                    + "- actions:\n$1"
                    + "- request_headers: {header_name: x-refuse, descriptor_key: refuse}\n")
        + cluster("small", upstream.port(), "{max_requests: 1}")
        + cluster("queue", upstream.port(), "{max_pending_requests: 0}")
        + cluster("nobody", closed.number(), "{}");
  }

  private static String cluster(String name, int port, String threshold) {
    return """
    - name: NAME
      connect_timeout: 60s
      type: STATIC
      circuit_breakers: {thresholds: [THRESHOLD]}
      load_assignment:
        cluster_name: NAME
        endpoints:
          - lb_endpoints:
              - endpoint: {address: {socket_address: {address: 127.0.0.1, port_value: PORT}}}
    """
        .replace("NAME", name)
        .replace("THRESHOLD", threshold)
        .replace("PORT", Integer.toString(port))
        .indent(4);
  }

  /** Refuses requests that select it, and grants a lease to all others. */
  private final class Limiter extends RateLimitServiceImplBase {
    @Override
    public void shouldRateLimit(RateLimitRequest request, StreamObserver<RateLimitResponse> to) {
      boolean refuse = request.toString().contains("refuse");
      RateLimitResponse.Builder answer =
          RateLimitResponse.newBuilder().setOverallCode(refuse ? Code.OVER_LIMIT : Code.OK);
      if (!refuse) {
        Value id =
            Value.newBuilder()
                .setStringValue(RecordingConcurrencyListener.lease(concurrencyLimiter, LOGGED).id())
                .build();
        answer.setDynamicMetadata(Struct.newBuilder().putFields("lease", id));
      }
      to.onNext(answer.build());
      to.onCompleted();
    }
  }
}
