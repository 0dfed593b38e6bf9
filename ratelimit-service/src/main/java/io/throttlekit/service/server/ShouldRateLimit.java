package io.throttlekit.service.server;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.grpc.StatusRuntimeException;
import io.throttlekit.TimeSource;
import io.throttlekit.service.rls.RateLimitFrontEnd;
import io.throttlekit.service.telemetry.DecisionTracing;
import io.throttlekit.service.telemetry.RateLimitMetrics;
import java.io.InputStream;

/**
 * The rate-limit service as grpc-java's calls, without what a generated service puts between: the
 * request is parsed, decided and answered on the event loop, in one go.
 *
 * <p>Thread-safe.
 */
final class ShouldRateLimit implements ServerCallHandler<RateLimitRequest, RateLimitResponse> {
  /** Stands for bytes that are no request, so that the caller is told instead of cut off. */
  static final RateLimitRequest MALFORMED =
      RateLimitRequest.newBuilder().setDomain("malformed").build();

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
    MethodDescriptor<RateLimitRequest, RateLimitResponse> generated =
        RateLimitServiceGrpc.getShouldRateLimitMethod();
    MethodDescriptor<RateLimitRequest, RateLimitResponse> method =
        generated.toBuilder(
                new ForgivingMarshaller(generated.getRequestMarshaller()),
                generated.getResponseMarshaller())
            .build();
    ServiceDescriptor service =
        ServiceDescriptor.newBuilder(RateLimitServiceGrpc.SERVICE_NAME)
            .setSchemaDescriptor(RateLimitServiceGrpc.getServiceDescriptor().getSchemaDescriptor())
            .addMethod(method)
            .build();
    return ServerServiceDefinition.builder(service).addMethod(method, this).build();
  }

  @Override
  public ServerCall.Listener<RateLimitRequest> startCall(
      ServerCall<RateLimitRequest, RateLimitResponse> call, Metadata headers) {
    call.request(
        2); // one message, and one more so that grpc-java notices a second and cancels the call
    return new RateLimitCall(this, call, tracing.start(headers));
  }

  private record ForgivingMarshaller(Marshaller<RateLimitRequest> exact)
      implements Marshaller<RateLimitRequest> {
    @Override
    public InputStream stream(RateLimitRequest request) {
      return exact.stream(request);
    }

    @Override
    public RateLimitRequest parse(InputStream stream) {
      try {
        return exact.parse(stream);
      } catch (StatusRuntimeException malformed) {
        return MALFORMED;
      }
    }
  }
}
