package io.throttlekit.service.envoy;

import com.google.protobuf.UInt64Value;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;

/**
 * Queries the remaining units without a charge, which shows what Envoy charged after a response.
 */
final class Remaining implements AutoCloseable {
  private final ManagedChannel channel;

  Remaining(int servicePort) {
    channel = NettyChannelBuilder.forAddress("127.0.0.1", servicePort).usePlaintext().build();
  }

  /** Returns the remaining units of a descriptor, given as key, value, key, value… */
  int of(String domain, String... entries) {
    RateLimitDescriptor.Builder descriptor =
        RateLimitDescriptor.newBuilder().setHitsAddend(UInt64Value.of(0));
    for (int i = 0; i < entries.length; i += 2) {
      descriptor.addEntriesBuilder().setKey(entries[i]).setValue(entries[i + 1]);
    }
    var request =
        RateLimitRequest.newBuilder().setDomain(domain).addDescriptors(descriptor).build();
    return RateLimitServiceGrpc.newBlockingStub(channel)
        .shouldRateLimit(request)
        .getStatuses(0)
        .getLimitRemaining();
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
