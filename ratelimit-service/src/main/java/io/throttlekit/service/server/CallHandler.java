package io.throttlekit.service.server;

import io.envoyproxy.envoy.service.auth.v3.AuthorizationGrpc;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.Marshaller;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerServiceDefinition;
import io.grpc.ServiceDescriptor;
import io.throttlekit.TimeSource;
import io.throttlekit.service.authz.CheckFrontEnd;
import io.throttlekit.service.rls.CallListener;
import io.throttlekit.service.rls.FrontEnd;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * Handles the calls of one gRPC method without generated stubs: a request is parsed, decided and
 * answered in one turn of the event loop. Thread-safe.
 *
 * <p>It is also the marshaller of the method's messages, which it passes on as streams of bytes: an
 * exception thrown within a gRPC marshaller cannot be answered with a status of our own.
 *
 * @param generated the service, as generated
 * @param generatedMethod its method, as generated
 * @param tracing null if it is off
 * @param time measures latencies; the same clock as that of the event loops
 */
record CallHandler(
    ServiceDescriptor generated,
    MethodDescriptor<?, ?> generatedMethod,
    FrontEnd frontEnd,
    CallListener listener,
    CallWarnings warnings,
    @Nullable CallTracing tracing,
    TimeSource time)
    implements ServerCallHandler<InputStream, InputStream>, Marshaller<InputStream> {

  /** Returns the handler of the rate-limit service. */
  static CallHandler ofRateLimits(
      FrontEnd frontEnd, CallListener listener, @Nullable CallTracing tracing, TimeSource time) {
    return new CallHandler(
        RateLimitServiceGrpc.getServiceDescriptor(),
        RateLimitServiceGrpc.getShouldRateLimitMethod(),
        frontEnd,
        listener,
        CallWarnings.ofRateLimits(time),
        tracing,
        time);
  }

  /** Returns the handler of external authorization. */
  static CallHandler ofChecks(
      CheckFrontEnd frontEnd, @Nullable CallTracing tracing, TimeSource time) {
    return new CallHandler(
        AuthorizationGrpc.getServiceDescriptor(),
        AuthorizationGrpc.getCheckMethod(),
        frontEnd,
        frontEnd.listener(),
        CallWarnings.ofChecks(time),
        tracing,
        time);
  }

  /** Returns the service with the generated descriptors, so that reflection shows its types. */
  ServerServiceDefinition definition() {
    MethodDescriptor<InputStream, InputStream> method =
        generatedMethod.toBuilder(this, this).build();
    ServiceDescriptor service =
        ServiceDescriptor.newBuilder(generated.getName())
            .setSchemaDescriptor(generated.getSchemaDescriptor())
            .addMethod(method)
            .build();
    return ServerServiceDefinition.builder(service).addMethod(method, this).build();
  }

  @Override
  public ServerCall.Listener<InputStream> startCall(
      ServerCall<InputStream, InputStream> call, Metadata headers) {
    // Requests a second message, too, so that grpc-java detects one and cancels the call.
    call.request(2);
    return new RateLimitCall(this, call, headers, tracing == null ? null : tracing.start(headers));
  }

  @Override
  public InputStream stream(InputStream message) {
    return message;
  }

  @Override
  public InputStream parse(InputStream message) {
    return message;
  }
}
