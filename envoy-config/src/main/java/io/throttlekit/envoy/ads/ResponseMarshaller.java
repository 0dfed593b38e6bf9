package io.throttlekit.envoy.ads;

import com.google.protobuf.CodedInputStream;
import io.envoyproxy.envoy.service.discovery.v3.DiscoveryResponse;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.io.IOException;
import java.io.InputStream;

/** Reads responses of at most {@link #MAX_PARTS} parts: others would need much memory. */
final class ResponseMarshaller implements MethodDescriptor.Marshaller<DiscoveryResponse> {
  /** Resources and other parts of a response, without those in the resources. */
  static final int MAX_PARTS = 100_000;

  private final MethodDescriptor.Marshaller<DiscoveryResponse> generated;

  ResponseMarshaller(MethodDescriptor.Marshaller<DiscoveryResponse> generated) {
    this.generated = generated;
  }

  @Override
  public InputStream stream(DiscoveryResponse response) {
    return generated.stream(response);
  }

  @Override
  public DiscoveryResponse parse(InputStream stream) {
    try {
      byte[] bytes = stream.readAllBytes(); // of limited length
      int parts =
          MessageParts.count(
              CodedInputStream.newInstance(bytes), DiscoveryResponse.getDescriptor(), MAX_PARTS);
      if (parts > MAX_PARTS) {
        throw Status.RESOURCE_EXHAUSTED
            .withDescription("the response has more than " + MAX_PARTS + " resources")
            .asRuntimeException();
      }
      return DiscoveryResponse.parseFrom(bytes);
    } catch (IOException e) {
      throw Status.INTERNAL
          .withDescription("the response cannot be read")
          .withCause(e)
          .asRuntimeException();
    }
  }
}
