package io.throttlekit.service.server;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
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
  final RateLimitFrontEnd frontEnd;
  final RateLimitMetrics metrics;
  final TimeSource time;
  private final DecisionTracing tracing;

  ShouldRateLimit(
      RateLimitFrontEnd frontEnd,
      RateLimitMetrics metrics,
      DecisionTracing tracing,
      TimeSource time) {
    this.frontEnd = frontEnd;
    this.metrics = metrics;
    this.tracing = tracing;
    this.time = time;
  }

  ServerServiceDefinition definition() {
    MethodDescriptor<InputStream, byte[]> method =
        RateLimitServiceGrpc.getShouldRateLimitMethod().toBuilder(
                MessageBytes.REQUEST, MessageBytes.RESPONSE)
            .build();
    ServiceDescriptor service =
        ServiceDescriptor.newBuilder(RateLimitServiceGrpc.SERVICE_NAME)
            .setSchemaDescriptor(RateLimitServiceGrpc.getServiceDescriptor().getSchemaDescriptor())
            .addMethod(method)
            .build();
    return ServerServiceDefinition.builder(service).addMethod(method, this).build();
  }

  @Override
  public ServerCall.Listener<InputStream> startCall(
      ServerCall<InputStream, byte[]> call, Metadata headers) {
    call.request(
        2); // one message, and one more so that grpc-java notices a second and cancels the call
    return new RateLimitCall(this, call, headers, tracing.start(headers));
  }
}
