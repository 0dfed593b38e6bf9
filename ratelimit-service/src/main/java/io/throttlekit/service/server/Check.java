package io.throttlekit.service.server;

import io.envoyproxy.envoy.service.auth.v3.AuthorizationGrpc;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.throttlekit.TimeSource;
import io.throttlekit.service.authz.CheckFrontEnd;
import io.throttlekit.service.telemetry.DecisionTracing;
import java.io.InputStream;

/** Serves external authorization on the same calls as {@link ShouldRateLimit}. Thread-safe. */
final class Check implements ServerCallHandler<InputStream, byte[]> {
  private final CallContext deciding;
  private final DecisionTracing tracing;

  Check(CheckFrontEnd frontEnd, DecisionTracing tracing, TimeSource time) {
    this.deciding =
        new CallContext(frontEnd, frontEnd.metrics(), time, CallWarnings.ofChecks(time));
    this.tracing = tracing;
  }

  ServerServiceDefinition definition() {
    return UnaryService.of(
        AuthorizationGrpc.getServiceDescriptor(), AuthorizationGrpc.getCheckMethod(), this);
  }

  @Override
  public ServerCall.Listener<InputStream> startCall(
      ServerCall<InputStream, byte[]> call, Metadata headers) {
    return RateLimitCall.begin(deciding, call, headers, tracing.start(headers));
  }
}
