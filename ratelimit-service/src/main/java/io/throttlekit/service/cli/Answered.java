package io.throttlekit.service.cli;

import io.grpc.CallOptions;
import io.grpc.ClientStreamTracer;
import io.grpc.Metadata;

/**
 * Detects whether a server answered at all. The status of a failed call does not show it, as the
 * client generates some statuses itself. For one call.
 */
final class Answered extends ClientStreamTracer.Factory {

  private volatile boolean answered;

  boolean answered() {
    return answered;
  }

  @Override
  public ClientStreamTracer newClientStreamTracer(
      ClientStreamTracer.StreamInfo info, Metadata headers) {
    return new ClientStreamTracer() {
      @Override
      public void inboundTrailers(Metadata trailers) {
        answered = true;
      }
    };
  }

  CallOptions on(CallOptions options) {
    return options.withStreamTracerFactory(this);
  }
}
