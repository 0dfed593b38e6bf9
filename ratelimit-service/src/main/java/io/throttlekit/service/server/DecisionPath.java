package io.throttlekit.service.server;

import io.grpc.ServerServiceDefinition;
import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.service.admission.Admission;
import io.throttlekit.service.admission.Counters;
import io.throttlekit.service.admission.MemoryCounters;
import io.throttlekit.service.admission.PolicyAdmission;
import io.throttlekit.service.admission.TieredCounters;
import io.throttlekit.service.authz.CheckFrontEnd;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.rls.EntryBound;
import io.throttlekit.service.rls.ExtrasFactory;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.service.telemetry.CheckMetrics;
import io.throttlekit.service.telemetry.ConcurrencyMetrics;
import io.throttlekit.service.telemetry.DecisionTracing;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.tier.Tiers;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The objects that a request passes between a socket and its counter.
 *
 * <p>The service and its warm-up both create them here: with separate lambdas, the JIT compiler
 * would see two types at each call site.
 *
 * @param frontEnd reads requests, decides them and writes answers
 * @param gate the limiter: admits requests under concurrency limits
 * @param checks the front end of external authorization; null if that is not configured
 * @param metrics counts decisions
 * @param loops the event loops that serve, if a store needs them before the server exists;
 *     otherwise null, and the server creates its own
 */
public record DecisionPath(
    ServiceConfig config,
    RateLimitFrontEnd frontEnd,
    ConcurrencyLimiter gate,
    @Nullable CheckFrontEnd checks,
    RateLimitMetrics metrics,
    TimeSource time,
    @Nullable EventLoopGroup loops) {

  /** Returns a path that decides by {@code policies} on counters in this process's memory. */
  public static DecisionPath inMemory(
      ServiceConfig config,
      PolicyStore policies,
      InMemoryStore counters,
      Telemetry telemetry,
      TimeSource time) {
    RateLimitMetrics metrics =
        metrics(config, policies, telemetry, counters::size, counters::forgotten);
    return through(new MemoryCounters(counters), config, policies, metrics, telemetry, time, null);
  }

  /** Returns a path that decides by {@code policies} on shared counters, on the event loops. */
  public static DecisionPath shared(
      ServiceConfig config,
      PolicyStore policies,
      Tiers tiers,
      Telemetry telemetry,
      TimeSource time,
      @Nullable EventLoopGroup loops) {
    RateLimitMetrics metrics = metrics(config, policies, telemetry, tiers::cells, () -> 0);
    TieredCounters counters = new TieredCounters(tiers, config.store().cachedDenyDefault());
    return through(counters, config, policies, metrics, telemetry, time, loops);
  }

  private static DecisionPath through(
      Counters counters,
      ServiceConfig config,
      PolicyStore policies,
      RateLimitMetrics metrics,
      Telemetry telemetry,
      TimeSource time,
      @Nullable EventLoopGroup loops) {
    CompatibilityConfig compatibility = config.compatibility();
    ConcurrencyLimiter gate = gate(telemetry, time);
    Admission admission =
        new PolicyAdmission(policies::book, counters, gate, compatibility, metrics);
    RateLimitFrontEnd frontEnd =
        new RateLimitFrontEnd(admission, config.response(), compatibility, config.grpc().limits());
    CheckFrontEnd checks = checks(config, admission, policies, metrics, telemetry);
    return new DecisionPath(config, frontEnd, gate, checks, metrics, time, loops);
  }

  /**
   * Returns a server for this path that does not listen yet.
   *
   * @throws ListenException if it could never listen, for example without a certificate
   */
  public GrpcServer server(GrpcConfig listener, Health health, DecisionTracing tracing) {
    List<ServerServiceDefinition> more = new ArrayList<>(1);
    if (checks != null) {
      more.add(CallHandler.ofChecks(checks, tracing, time).definition());
    }
    CallHandler rateLimits = CallHandler.ofRateLimits(frontEnd, metrics, tracing, time);
    return new GrpcServer(listener, rateLimits, more, health, loops);
  }

  /** Returns the gRPC service of this path, for servers other than {@link GrpcServer}. */
  public ServerServiceDefinition service(DecisionTracing tracing) {
    return CallHandler.ofRateLimits(frontEnd, metrics, tracing, time).definition();
  }

  private static @Nullable CheckFrontEnd checks(
      ServiceConfig config,
      Admission admission,
      PolicyStore policies,
      RateLimitMetrics metrics,
      Telemetry telemetry) {
    ExtAuthzConfig authz = config.extAuthz();
    return authz == null
        ? null
        : new CheckFrontEnd(
            authz,
            new EntryBound(config.grpc().limits().entryBytes()),
            new ExtrasFactory(config.response(), config.compatibility()),
            admission,
            policies::book,
            metrics,
            new CheckMetrics(telemetry.meter()));
  }

  private static ConcurrencyLimiter gate(Telemetry telemetry, TimeSource time) {
    ConcurrencyMetrics counted = new ConcurrencyMetrics(telemetry.meter());
    ConcurrencyLimiter gate =
        new ConcurrencyLimiter(
            time, DecisionPath::runAfter, counted, DecisionPath::retryAfterMillis);
    counted.show(gate);
    return gate;
  }

  private static void runAfter(long nanos, Runnable task) {
    CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS).execute(task);
  }

  /**
   * Returns 1 to 2,000 ms: rounded up to whole seconds, half of the callers retry after one second
   * and half after two, so that they do not all return at once.
   */
  private static long retryAfterMillis() {
    return ThreadLocalRandom.current().nextLong(1, 2_001);
  }

  private static RateLimitMetrics metrics(
      ServiceConfig config,
      PolicyStore policies,
      Telemetry telemetry,
      LongSupplier counters,
      LongSupplier forgotten) {
    return new RateLimitMetrics(
        telemetry.meter(),
        policies::book,
        counters,
        forgotten,
        config.telemetry().nearLimitRatio(),
        config.telemetry().maxSeries());
  }
}
