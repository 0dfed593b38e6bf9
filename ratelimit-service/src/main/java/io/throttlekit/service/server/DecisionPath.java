package io.throttlekit.service.server;

import io.throttlekit.TimeSource;
import io.throttlekit.service.admission.MemoryAdmission;
import io.throttlekit.service.config.GrpcConfig;
import io.throttlekit.service.config.ServiceConfig;
import io.throttlekit.service.policies.PolicyStore;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.service.telemetry.DecisionTracing;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import io.throttlekit.service.telemetry.Telemetry;
import io.throttlekit.store.InMemoryStore;

/**
 * What a request passes between a socket and its counter.
 *
 * <p>Made here for the service and for its warm-up alike: where both would wire the same parts by
 * lambdas of their own, the compiler would see two kinds of each.
 *
 * @param frontEnd reads requests, has them decided and writes answers
 * @param metrics counts what is decided
 */
public record DecisionPath(
    ServiceConfig config, RateLimitFrontEnd frontEnd, RateLimitMetrics metrics, TimeSource time) {

  /** Decides by {@code policies} on counters in this process's memory. */
  public static DecisionPath inMemory(
      ServiceConfig config,
      PolicyStore policies,
      InMemoryStore counters,
      Telemetry telemetry,
      TimeSource time) {
    RateLimitMetrics metrics =
        new RateLimitMetrics(
            telemetry.meter(),
            policies::book,
            counters::size,
            counters::forgotten,
            config.telemetry().nearLimitRatio(),
            config.telemetry().maxSeries());
    RateLimitFrontEnd frontEnd =
        new RateLimitFrontEnd(
            new MemoryAdmission(policies::book, counters, config.compatibility(), metrics),
            config.response(),
            config.compatibility(),
            config.grpc().limits().descriptors());
    return new DecisionPath(config, frontEnd, metrics, time);
  }

  /**
   * A server that leads there and does not listen yet.
   *
   * @throws ListenException when it never could
   */
  public GrpcServer server(GrpcConfig listener, Health health, DecisionTracing tracing) {
    return new GrpcServer(listener, frontEnd, health, metrics, tracing, time);
  }
}
