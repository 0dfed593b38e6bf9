package io.throttlekit.service.envoy;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc.RateLimitServiceImplBase;
import io.grpc.Server;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.StreamObserver;
import io.opentelemetry.api.OpenTelemetry;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.EnvoyExample;
import io.throttlekit.envoy.EnvoyWiring;
import io.throttlekit.envoy.xds.LimitServerSettings;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.concurrency.envoy.ReplicaMembership;
import io.throttlekit.service.concurrency.envoy.Steering;
import io.throttlekit.service.concurrency.envoy.SteeringListener;
import io.throttlekit.service.concurrency.sensors.AccessLogs;
import io.throttlekit.service.concurrency.sensors.Kind;
import io.throttlekit.service.concurrency.sensors.LoadReports;
import io.throttlekit.service.concurrency.sensors.Recorded;
import io.throttlekit.service.server.Book;
import io.throttlekit.service.telemetry.AccessLogMetrics;
import io.throttlekit.service.telemetry.LoadReportMetrics;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What slow routes and slow clients behind a real Envoy take of a concurrency limit: nothing. One
 * request in five is slow, in turn with times in which none is.
 */
@MeshTest
@Tag("alone")
@Tag("thorough")
class EnvoyTimeoutsTest {
  private static final int PER_SECOND = 75;
  private static final int SLOW_ONE_IN = 5;
  private static final int BODY_BYTES = 1 << 20;

  private static final int PHASE_SECONDS = 70;

  /** Phases with slow requests between two without. */
  private static final int SLOW_PHASES = 1;

  /** The end of a phase, whose median limit counts. */
  private static final int MEASURED_SECONDS = 60;

  private static final Duration PHASE_TIMEOUT = Duration.ofSeconds(10L * PHASE_SECONDS);

  private static final String ROUTES =
      """
      - match: {prefix: /hang}
        route: {cluster: upstream, timeout: 0.2s}
      - match: {prefix: /}
        route: {cluster: upstream, timeout: 0.6s}
      """;

  /** SO_SNDBUF, or the kernel takes the whole response for a reader that is slow. */
  private static final String SMALL_SEND_BUFFER =
      "      socket_options: [{level: 1, name: 7, int_value: 16384, state: STATE_PREBIND}]\n";

  @TempDir Path folder;
  private final Recorded recorded = new Recorded();
  private final Steering steering =
      new Steering(
          TimeSource.system(),
          LimitServerSettings.DEFAULT,
          ReplicaMembership.alone(TimeSource.system(), "only"),
          ConcurrencyListener.NONE,
          SteeringListener.NONE);
  private final HttpClient client =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final ScheduledExecutorService timer = Executors.newScheduledThreadPool(1);
  private final Queue<Socket> sockets = new ConcurrentLinkedQueue<>();
  private DelayingUpstream upstream;
  private Server server;

  @BeforeEach
  void start() throws IOException {
    upstream = DelayingUpstream.start(Duration.ofMillis(200), BODY_BYTES);
    steering.follow(
        Book.of(
            """
            domain: shop
            descriptors:
              - key: limit
                concurrency: {gate: envoy, cluster: upstream, min: 4, max: 500, initial: 60}
            """));
    steering.start();
    var meter = OpenTelemetry.noop().getMeter("test");
    var sensed = steering.andThen(recorded);
    NettyServerBuilder builder =
        NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0))
            .directExecutor()
            .addService(new AdmitsAll())
            .addService(
                new AccessLogs(
                    sensed, new AccessLogMetrics(meter, () -> true), TimeSource.system(), 10_000))
            .addService(
                new LoadReports(
                    steering,
                    new LoadReportMetrics(meter),
                    TimeSource.system(),
                    Duration.ofMillis(100)));
    steering.services().forEach(builder::addService);
    server = builder.build().start();
  }

  @AfterEach
  void stop() throws Exception {
    timer.shutdownNow();
    client.shutdownNow();
    for (Socket socket : sockets) {
      socket.close();
    }
    steering.close();
    server.shutdownNow().awaitTermination(5, TimeUnit.MINUTES);
    upstream.close();
  }

  @Test
  void slowRoutesAndClientsChangeTheLimitByAtMostATenth() throws Exception {
    try (EnvoyUnderTest envoy = EnvoyUnderTest.start(this::bootstrap, folder)) {
      Slow none = () -> get(envoy, "/orders");
      List<Slow> slow =
          List.of(() -> get(envoy, "/hang"), () -> upload(envoy), () -> readNothing(envoy));
      int before = medianLimit(envoy, none);
      for (int i = 0; i < slow.size(); i += SLOW_PHASES) {
        List<Slow> phases = slow.subList(i, i + SLOW_PHASES);
        List<Integer> with = phases.stream().map(each -> medianLimit(envoy, each)).toList();
        int after = medianLimit(envoy, none);
        int without = (before + after) / 2;
        assertThat(with)
            .as("from phase %d, without slow requests %d and %d", i, before, after)
            .allSatisfy(limit -> assertThat(limit).isBetween(without * 9 / 10, without * 11 / 10));
        before = after;
      }
      assertThat(recorded.count(Kind.TIMED_OUT)).as("timeouts of the slow route").isGreaterThan(50);
      assertThat(recorded.count(Kind.ABORTED)).as("timeouts of slow readers").isGreaterThan(10);
    }
  }

  /** Sends requests, of which {@code slow} are some, and returns the limit during them. */
  private int medianLimit(EnvoyUnderTest envoy, Slow slow) {
    AtomicInteger sent = new AtomicInteger();
    List<Integer> limits = new ArrayList<>();
    var sending =
        timer.scheduleAtFixedRate(
            () -> {
              int n = sent.incrementAndGet();
              if (n % SLOW_ONE_IN == 0) {
                slow.send();
              } else {
                get(envoy, "/orders");
              }
              if (n > (PHASE_SECONDS - MEASURED_SECONDS) * PER_SECOND
                  && n % (PER_SECOND / 10) == 0) {
                synchronized (limits) {
                  limits.add(limit());
                }
              }
            },
            0,
            1_000_000 / PER_SECOND,
            TimeUnit.MICROSECONDS);
    int requests = PHASE_SECONDS * PER_SECOND;
    await().atMost(PHASE_TIMEOUT).until(() -> sent.get() >= requests || sending.isDone());
    assertThat(sending.cancel(false)).isTrue();
    synchronized (limits) {
      return limits.stream().sorted().toList().get(limits.size() / 2);
    }
  }

  private int limit() {
    AtomicLong limit = new AtomicLong();
    steering.forEach((_, figures) -> limit.set(figures.limit()));
    return limit.intValue();
  }

  private void get(EnvoyUnderTest envoy, String path) {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + envoy.port() + path)).build();
    var _ = client.sendAsync(request, BodyHandlers.discarding());
  }

  /** Sends the second half of a body 300 ms after the first. */
  private void upload(EnvoyUnderTest envoy) {
    Socket socket =
        begin(envoy, "POST /orders HTTP/1.1\r\nhost: mesh\r\ncontent-length: 8\r\n\r\nhalf");
    var _ =
        timer.schedule(
            () -> {
              socket.getOutputStream().write("half".getBytes(US_ASCII));
              return null;
            },
            300,
            TimeUnit.MILLISECONDS);
  }

  private void readNothing(EnvoyUnderTest envoy) {
    begin(envoy, "GET /large HTTP/1.1\r\nhost: mesh\r\n\r\n");
  }

  @SuppressWarnings("AddressSelection") // loopback has one
  private Socket begin(EnvoyUnderTest envoy, String text) {
    try {
      Socket socket = new Socket();
      sockets.add(socket);
      socket.setReceiveBufferSize(4_096);
      socket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), envoy.port()));
      socket.getOutputStream().write(text.getBytes(US_ASCII));
      return socket;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
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
                Duration.ofSeconds(30),
                Path.of("/dev/null")))
        .replace(
            "log_name: throttlekit\n",
            "log_name: throttlekit\n" + " ".repeat(24) + "buffer_size_bytes: 0\n")
        .replaceFirst(
            " +- match: \\{prefix: /}\n +route: \\{cluster: upstream, timeout: 0s}\n",
            ROUTES.indent(24))
        .replaceFirst(
            "(    - name: http\n)",
            "$1      per_connection_buffer_limit_bytes: 32768\n" + SMALL_SEND_BUFFER);
  }

  /** Sends a request that may be slow. */
  @FunctionalInterface
  private interface Slow {
    void send();
  }

  private static final class AdmitsAll extends RateLimitServiceImplBase {
    @Override
    public void shouldRateLimit(RateLimitRequest request, StreamObserver<RateLimitResponse> to) {
      to.onNext(RateLimitResponse.newBuilder().setOverallCode(Code.OK).build());
      to.onCompleted();
    }
  }
}
