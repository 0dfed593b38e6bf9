package io.throttlekit.service.warmup;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.opentelemetry.api.trace.TracerProvider;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.LoadOptions;
import io.throttlekit.descriptors.PolicyBook;
import io.throttlekit.descriptors.PolicyLoader;
import io.throttlekit.descriptors.PolicySource;
import io.throttlekit.service.admission.MemoryAdmission;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.config.TelemetryConfig;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.service.server.GrpcServer;
import io.throttlekit.service.server.Health;
import io.throttlekit.service.telemetry.DecisionTracing;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.store.InMemoryStore;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends requests to a service like this one until the virtual machine has compiled the way of a
 * request.
 *
 * <p>The requests go over a plaintext loopback port of their own, to a store, policies and metrics
 * of their own: nothing that counts is touched.
 */
public final class WarmUp {
  private static final Logger LOG = LoggerFactory.getLogger(WarmUp.class);
  private static final String METHOD =
      RateLimitServiceGrpc.getShouldRateLimitMethod().getFullMethodName();

  /** Where it ends, however few requests were sent. */
  static final Duration LONGEST = Duration.ofSeconds(5);

  private static final int LARGEST_BURST = 64;

  private static final long COUNTERS = 1_000;

  private static final String POLICIES =
      """
      domain: warm-up
      descriptors:
        - {key: user, rate_limit: {unit: minute, requests_per_unit: 1000000}}
        - {key: closed, rate_limit: {unit: day, requests_per_unit: 1}}
        - {key: path, value: "/api/*", rate_limit: {unit: hour, requests_per_unit: 4294967295}}
        - key: path
          value: /shop/checkout
          descriptors:
            - {key: remote_address, rate_limit: {unit: hour, requests_per_unit: 1000000000}}
        - key: tenant
          descriptors:
            - {key: user, rate_limit: {unit: second, requests_per_unit: 100}}
      """;

  private static final List<RequestFrames> REQUESTS =
      RequestFrames.of(
          METHOD,
          List.of(
              request(List.of("user", "a")),
              request(List.of("user", "b")),
              request(List.of("closed", "a")),
              request(List.of("path", "/api/v1")),
              request(List.of("path", "/shop/checkout", "remote_address", "203.0.113.7")),
              request(List.of("path", "/shop/checkout", "remote_address", "2001:db8:85a3::7334")),
              request(List.of("tenant", "t", "user", "a")),
              request(List.of("unknown", "a")),
              request(
                  List.of("user", "c"),
                  List.of("path", "/api/v2"),
                  List.of("tenant", "t", "user", "b"),
                  List.of("unknown", "b"))));

  private final ServiceConfig config;
  private final TimeSource time;
  private final BooleanSupplier stopped;

  /**
   * A warm-up of a service configured like {@code config}.
   *
   * @param stopped whether nobody waits for it any more
   */
  public WarmUp(ServiceConfig config, TimeSource time, BooleanSupplier stopped) {
    this.config = config;
    this.time = time;
    this.stopped = stopped;
  }

  /** Sends them; returns how many were answered. */
  public int run() {
    int requests = config.warmUp().requests();
    if (requests == 0) {
      return 0;
    }
    PolicyBook book =
        new PolicyLoader(new LoadOptions(true))
            .load(List.of(new PolicySource("warm-up", POLICIES)))
            .book();
    InMemoryStore store = new InMemoryStore(time, COUNTERS);
    TelemetryConfig telemetryConfig = TelemetryConfig.defaults();
    try (Telemetry telemetry = Telemetry.start(telemetryConfig)) {
      RateLimitMetrics metrics =
          new RateLimitMetrics(
              telemetry.meter(),
              () -> book,
              store::size,
              store::forgotten,
              telemetryConfig.nearLimitRatio(),
              telemetryConfig.maxSeries());
      RateLimitFrontEnd frontEnd =
          new RateLimitFrontEnd(
              new MemoryAdmission(() -> book, store, config.compatibility(), metrics),
              config.response(),
              config.compatibility(),
              config.grpc().limits().descriptors(),
              time);
      GrpcServer server =
          new GrpcServer(scratch(config.grpc()), frontEnd, new Health(), metrics, tracing(), time);
      server.start();
      try {
        return send(server.port(), requests);
      } finally {
        server.stop();
      }
    }
  }

  private int send(int port, int requests) {
    long begun = time.monotonicNanos();
    int answered = 0;
    try (BareClient client = BareClient.connect(port)) {
      for (int burst = 1; answered < requests && !stopped.getAsBoolean(); burst++) {
        Duration left = LONGEST.minusNanos(time.monotonicNanos() - begun);
        if (!left.isPositive()) {
          break;
        }
        int size = Math.min(requests - answered, 1 + burst % LARGEST_BURST);
        client.exchange(batch(answered, size), left);
        answered += size;
      }
    } catch (IOException e) {
      LOG.warn("the warm-up ended early: {}", e.getMessage());
    }
    return answered;
  }

  /** Like the real one, but nothing is ever recorded. */
  private DecisionTracing tracing() {
    return config.telemetry().tracing()
        ? DecisionTracing.on(TracerProvider.noop().get("warm-up"), 0, () -> 1)
        : DecisionTracing.off();
  }

  private static List<RequestFrames> batch(int first, int size) {
    return IntStream.range(first, first + size)
        .mapToObj(i -> REQUESTS.get(i % REQUESTS.size()))
        .toList();
  }

  private static GrpcConfig scratch(GrpcConfig real) {
    GrpcConfig.Limits limits = real.limits();
    return new GrpcConfig(
        "127.0.0.1",
        0,
        null,
        null,
        GrpcConfig.ConnectionAge.unlimited(),
        real.keepAlive(),
        new GrpcConfig.Limits(
            limits.messageBytes(),
            limits.descriptors(),
            Math.max(LARGEST_BURST, limits.callsPerConnection())),
        real.eventLoops(),
        new GrpcConfig.Drain(Duration.ZERO, Duration.ofMillis(200)));
  }

  @SafeVarargs
  private static byte[] request(List<String>... descriptors) {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain("warm-up");
    for (List<String> entries : descriptors) {
      RateLimitDescriptor.Builder descriptor = request.addDescriptorsBuilder();
      for (int i = 0; i < entries.size(); i += 2) {
        descriptor.addEntriesBuilder().setKey(entries.get(i)).setValue(entries.get(i + 1));
      }
    }
    return request.build().toByteArray();
  }
}
