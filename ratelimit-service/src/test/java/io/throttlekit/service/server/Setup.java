package io.throttlekit.service.server;

import io.grpc.BindableService;
import io.grpc.ServerServiceDefinition;
import io.opentelemetry.api.OpenTelemetry;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.service.admission.MemoryCounters;
import io.throttlekit.service.admission.PolicyAdmission;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.ConcurrencyListener;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.ResponseConfig;
import io.throttlekit.service.config.TlsConfig;
import io.throttlekit.service.config.load.ConfigLoader;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.store.InMemoryStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A service under test, wired as in production. */
public final class Setup {
  /** 2222 seconds after the epoch: 58 s before the end of its minute. */
  public static final long NOW = 2_222_000;

  /** Counts as envoyproxy/ratelimit does. */
  public static final CompatibilityConfig COUNTING = new CompatibilityConfig(true, false, false);

  /** Counts as this service does by default. */
  public static final CompatibilityConfig NATIVE = new CompatibilityConfig(false, false, false);

  /** Responses without headers and metadata. */
  public static final ResponseConfig BARE =
      new ResponseConfig(
          ConfigLoader.defaults().response().headers(),
          false,
          false,
          ConfigLoader.defaults().response().deniedBody(),
          false);

  final AtomicReference<@Nullable PolicyBook> book = new AtomicReference<>();
  final FixedTime time = new FixedTime(NOW);
  final Health health = new Health();
  final RateLimitMetrics metrics;
  final RateLimitFrontEnd frontEnd;
  private final ConcurrencyLimiter concurrencyLimiter;

  /** Creates a service with these policies; null for none yet. */
  public Setup(@Nullable String yaml, CompatibilityConfig compatibility, ResponseConfig response) {
    this(yaml, compatibility, response, null);
  }

  Setup(
      @Nullable String yaml,
      CompatibilityConfig compatibility,
      ResponseConfig response,
      @Nullable TimeSource clock) {
    book.set(yaml == null ? null : Book.of(yaml));
    TimeSource used = clock == null ? time : clock;
    InMemoryStore store = new InMemoryStore(used, 10_000);
    metrics = metrics(book::get, store);
    concurrencyLimiter = gate(used);
    frontEnd =
        new RateLimitFrontEnd(
            new PolicyAdmission(
                book::get,
                new MemoryCounters(store),
                concurrencyLimiter,
                compatibility,
                false,
                metrics),
            response,
            compatibility,
            limits());
  }

  /** Returns the default limits, but with few descriptors per request. */
  static GrpcConfig.Limits limits() {
    GrpcConfig.Limits limits = ConfigLoader.defaults().grpc().limits();
    return new GrpcConfig.Limits(
        limits.messageBytes(), 200, limits.entryBytes(), limits.callsPerConnection());
  }

  /** Returns a limiter whose timer never runs, without listeners. */
  public static ConcurrencyLimiter gate(TimeSource time) {
    return new ConcurrencyLimiter(time, (_, _) -> {}, ConcurrencyListener.NONE, () -> 1_500);
  }

  /** Returns metrics of a store that are never collected. */
  public static RateLimitMetrics metrics(
      Supplier<@Nullable PolicyBook> policies, InMemoryStore store) {
    return new RateLimitMetrics(
        OpenTelemetry.noop().getMeter("test"), policies, store::size, store::forgotten, .8, 1_000);
  }

  /** Returns the front end that decides by these policies. */
  public RateLimitFrontEnd frontEnd() {
    return frontEnd;
  }

  /** Returns the limiter of concurrent requests. */
  public ConcurrencyLimiter gate() {
    return concurrencyLimiter;
  }

  /** Returns the metrics. */
  public RateLimitMetrics metrics() {
    return metrics;
  }

  /** Returns the clock of the counters. */
  public FixedTime time() {
    return time;
  }

  CallHandler service() {
    return CallHandler.ofRateLimits(frontEnd, metrics, null, time);
  }

  /** Returns a healthy server that listens on loopback. */
  GrpcServer serve(GrpcConfig config) {
    return serve(config, List.of());
  }

  /** Returns such a server with further services. */
  GrpcServer serve(GrpcConfig config, List<BindableService> further) {
    List<ServerServiceDefinition> more =
        further.stream().map(BindableService::bindService).toList();
    GrpcServer server =
        new GrpcServer(config, service(), more, health, null, Duration.ofMillis(20));
    server.start();
    health.clear(Health.Obstacle.STARTING);
    return server;
  }

  /** Returns a listener on loopback, at a free port. */
  public static GrpcConfig loopback() {
    return listener(null, null, Duration.ofSeconds(10), Duration.ZERO);
  }

  /** Returns the configuration with reflection enabled. */
  static GrpcConfig reflecting(GrpcConfig config) {
    return new GrpcConfig(
        config.host(),
        config.port(),
        config.unixSocket(),
        config.tls(),
        config.connectionAge(),
        config.keepAlive(),
        config.limits(),
        config.eventLoops(),
        config.drain(),
        true);
  }

  static GrpcConfig listener(
      @Nullable Path socket, @Nullable TlsConfig tls, Duration drainTimeout, Duration drainDelay) {
    GrpcConfig d = ConfigLoader.defaults().grpc();
    return new GrpcConfig(
        "127.0.0.1",
        0,
        socket,
        tls,
        d.connectionAge(),
        d.keepAlive(),
        limits(),
        2,
        new GrpcConfig.Drain(drainDelay, drainTimeout),
        false);
  }
}
