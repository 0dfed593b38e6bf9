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
 * The rate-limit service on grpc-java's calls, without generated stubs: a request is parsed,
 * decided and answered in one turn of the event loop, as plain bytes.
 */
final class ShouldRateLimit implements ServerCallHandler<InputStream, byte[]> {
  private final CallContext deciding;
  private final DecisionTracing tracing;

  ShouldRateLimit(
      RateLimitFrontEnd frontEnd,
      RateLimitMetrics metrics,
      DecisionTracing tracing,
      TimeSource time) {
    this.deciding = new CallContext(frontEnd, metrics, time, CallWarnings.ofRateLimits(time));
    this.tracing = tracing;
  }

  /** Returns the collaborators of its calls. */
  CallContext deciding() {
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
