package io.throttlekit.service.server;

import io.grpc.ServerServiceDefinition;
import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.service.admission.Admission;
import io.throttlekit.service.admission.PolicyAdmission;
import io.throttlekit.service.authz.CheckFrontEnd;
import io.throttlekit.service.authz.CheckListener;
import io.throttlekit.service.concurrency.ConcurrencyLimiter;
import io.throttlekit.service.concurrency.Fleet;
import io.throttlekit.service.config.CompatibilityConfig;
import io.throttlekit.service.config.ExtAuthzConfig;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.rls.CallListener;
import io.throttlekit.service.rls.ExtrasFactory;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.tier.Counters;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The objects that a request passes between a socket and its counter.
 *
 * <p>The service and its warm-up both create them here: with separate lambdas, the JIT compiler
 * would see two types at each call site.
 *
 * @param frontEnd reads requests, decides them and writes answers
 * @param limiter admits requests under concurrency limits
 * @param checks the front end of external authorization; null if that is not configured
 * @param calls receives the rate-limit calls
 * @param loops the event loops that serve, if a store needs them before the server exists;
 *     otherwise null, and the server creates its own
 */
public record DecisionPath(
    ServiceConfig config,
    RateLimitFrontEnd frontEnd,
    ConcurrencyLimiter limiter,
    @Nullable CheckFrontEnd checks,
    CallListener calls,
    TimeSource time,
    @Nullable EventLoopGroup loops) {

  /**
   * Returns a path that decides by {@code policies} on {@code counters} and notifies {@code
   * listeners}.
   *
   * @param fleet the replicas that share its concurrency limits; null if none do
   */
  public static DecisionPath of(
      ServiceConfig config,
      PolicyStore policies,
      Counters counters,
      PathListeners listeners,
      TimeSource time,
      @Nullable EventLoopGroup loops,
      @Nullable Fleet fleet) {
    CompatibilityConfig compatibility = config.compatibility();
    ConcurrencyLimiter limiter =
        new ConcurrencyLimiter(
            time,
            DecisionPath::runAfter,
            listeners.limits(),
            DecisionPath::retryAfterMillis,
            fleet);
    Admission admission =
        new PolicyAdmission(
            policies::book,
            counters,
            limiter,
            compatibility,
            config.store().cachedDenyDefault(),
            listeners.decisions());
    RateLimitFrontEnd frontEnd =
        new RateLimitFrontEnd(admission, config.response(), compatibility, config.grpc().limits());
    CheckFrontEnd checks = checks(config, admission, policies, listeners);
    return new DecisionPath(config, frontEnd, limiter, checks, listeners.calls(), time, loops);
  }

  /**
   * Returns a server for this path that does not listen yet.
   *
   * @throws ListenException if it could never listen, for example without a certificate
   */
  public GrpcServer server(GrpcConfig listener, Health health, @Nullable CallTracing tracing) {
    List<ServerServiceDefinition> more = new ArrayList<>(1);
    if (checks != null) {
      more.add(CallHandler.ofChecks(checks, tracing, time).definition());
    }
    CallHandler rateLimits = CallHandler.ofRateLimits(frontEnd, calls, tracing, time);
    return new GrpcServer(listener, rateLimits, more, health, loops, GrpcServer.TLS_POLL_INTERVAL);
  }

  /** Returns the gRPC service of this path, for servers other than {@link GrpcServer}. */
  public ServerServiceDefinition service(@Nullable CallTracing tracing) {
    return CallHandler.ofRateLimits(frontEnd, calls, tracing, time).definition();
  }

  private static @Nullable CheckFrontEnd checks(
      ServiceConfig config, Admission admission, PolicyStore policies, PathListeners listeners) {
    ExtAuthzConfig authz = config.extAuthz();
    CheckListener checks = listeners.checks();
    return authz == null || checks == null
        ? null
        : new CheckFrontEnd(
            authz,
            config.grpc().limits().entryBytes(),
            new ExtrasFactory(config.response(), config.compatibility()),
            admission,
            policies::book,
            listeners.decisions(),
            checks);
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
}
