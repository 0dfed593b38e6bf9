package io.throttlekit.service.server;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.throttlekit.TimeSource;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.service.telemetry.DecisionTracing;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import java.io.InputStream;

/**
 * The rate-limit service as grpc-java's calls, without what a generated service puts between: the
 * request is read, decided and answered on the event loop, in one go, and its bytes come and go as
 * they are.
 *
 * <p>Thread-safe.
 */
final class ShouldRateLimit implements ServerCallHandler<InputStream, byte[]> {
  private final Deciding deciding;
  private final DecisionTracing tracing;

  ShouldRateLimit(
      RateLimitFrontEnd frontEnd,
      RateLimitMetrics metrics,
      DecisionTracing tracing,
      TimeSource time) {
    this.deciding = new Deciding(frontEnd, metrics, time, CallWarnings.ofRateLimits(time));
    this.tracing = tracing;
  }

  /** What its calls have in common. */
  Deciding deciding() {
    return deciding;
  }

  ServerServiceDefinition definition() {
    return UnaryService.of(
        RateLimitServiceGrpc.getServiceDescriptor(),
        RateLimitServiceGrpc.getShouldRateLimitMethod(),
        this);
  }

  @Override
  public ServerCall.Listener<InputStream> startCall(
      ServerCall<InputStream, byte[]> call, Metadata headers) {
    return RateLimitCall.begin(deciding, call, headers, tracing.start(headers));
  }
}
