package io.throttlekit.demo.fleet;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc.RateLimitServiceBlockingStub;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.throttlekit.TimeSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Measures how soon a release takes effect that reaches another replica than that of its permit:
 * the only permit of a limit is acquired at one, released at the other, and acquired again.
 */
final class ReleaseProbe implements AutoCloseable {
  /**
   * A limit of one request. Only one replica uses it, so this one has all of it. A permit does not
   * end by its TTL before a probe fails.
   */
  static final String RULE = "  - {key: probe, concurrency: {min: 1, max: 1, lease: {ttl: 1h}}}\n";

  private static final Duration TIMEOUT = Duration.ofMinutes(2);

  private final ManagedChannel owner;
  private final ManagedChannel other;
  private final TimeSource time;

  ReleaseProbe(Replica owner, Replica other, TimeSource time) {
    this.owner = channel(owner);
    this.other = channel(other);
    this.time = time;
  }

  private static ManagedChannel channel(Replica replica) {
    return NettyChannelBuilder.forAddress("127.0.0.1", replica.ports().grpc())
        .usePlaintext()
        .build();
  }

  /** Returns the time from a release to the next admission in ns, several times. */
  long[] delays(int count) {
    long[] delays = new long[count];
    String permit = acquire();
    for (int i = 0; i < count; i++) {
      long released = time.monotonicNanos();
      var _ = call(other, "throttlekit_lease", permit);
      permit = acquire();
      delays[i] = time.monotonicNanos() - released;
    }
    var _ = call(owner, "throttlekit_lease", permit);
    return delays;
  }

  /** Requests a permit until there is one. */
  private String acquire() {
    long begin = time.monotonicNanos();
    while (time.monotonicNanos() - begin < TIMEOUT.toNanos()) {
      Optional<String> permit = permit(call(owner, "probe", "any"));
      if (permit.isPresent()) {
        return permit.get();
      }
    }
    throw new AssertionError("no permit within " + TIMEOUT);
  }

  private static Optional<String> permit(RateLimitResponse response) {
    return response.getOverallCode() == Code.OK
        ? Optional.of(response.getDynamicMetadata().getFieldsOrThrow("lease").getStringValue())
        : Optional.empty();
  }

  private static RateLimitResponse call(ManagedChannel replica, String key, String value) {
    RateLimitDescriptor.Builder descriptor = RateLimitDescriptor.newBuilder();
    descriptor.addEntriesBuilder().setKey(key).setValue(value);
    RateLimitServiceBlockingStub stub =
        RateLimitServiceGrpc.newBlockingStub(replica)
            .withDeadlineAfter(TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
    return stub.shouldRateLimit(
        RateLimitRequest.newBuilder().setDomain("fleet").addDescriptors(descriptor).build());
  }

  @Override
  public void close() {
    owner.shutdownNow();
    other.shutdownNow();
  }
}
