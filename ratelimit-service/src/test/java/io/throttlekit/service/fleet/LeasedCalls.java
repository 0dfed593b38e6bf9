package io.throttlekit.service.fleet;

import com.google.protobuf.Value;
import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** Requests to one process that hold leases of a concurrency limit, as Envoy's. */
final class LeasedCalls implements AutoCloseable {
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  private final ManagedChannel channel;
  private final AtomicInteger admitted = new AtomicInteger();

  LeasedCalls(ServiceProcess service) {
    this.channel =
        NettyChannelBuilder.forAddress("127.0.0.1", service.port()).usePlaintext().build();
  }

  /** Returns the id of the lease of a request, or null if it was refused. */
  @Nullable String acquire(String key) {
    RateLimitResponse answer = call(key, "v");
    Value lease = answer.getDynamicMetadata().getFieldsMap().get("lease");
    return lease == null ? null : lease.getStringValue();
  }

  void release(String lease) {
    var _ = call("throttlekit_lease", lease);
  }

  /** Returns how many requests of loads were admitted. */
  int admitted() {
    return admitted.get();
  }

  /**
   * Sends requests one after the other, and keeps some of them in flight.
   *
   * @param enough ends the load
   * @param inFlight counts them, with other loads; decremented before a lease is released
   * @param most the most that were in flight
   */
  void load(
      String key, BooleanSupplier enough, int held, AtomicInteger inFlight, AtomicInteger most) {
    Queue<String> leases = new ArrayDeque<>();
    while (!enough.getAsBoolean()) {
      String lease = acquire(key);
      if (lease != null) {
        most.accumulateAndGet(inFlight.incrementAndGet(), Math::max);
        leases.add(lease);
        admitted.incrementAndGet();
      }
      if (leases.size() > held || (lease == null && !leases.isEmpty())) {
        inFlight.decrementAndGet();
        release(leases.remove());
      }
    }
    while (!leases.isEmpty()) {
      inFlight.decrementAndGet();
      release(leases.remove());
    }
  }

  private RateLimitResponse call(String key, String value) {
    return RateLimitServiceGrpc.newBlockingStub(channel)
        .withDeadlineAfter(DEADLINE)
        .shouldRateLimit(
            RateLimitRequest.newBuilder()
                .setDomain("shop")
                .addDescriptors(
                    RateLimitDescriptor.newBuilder()
                        .addEntries(
                            RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue(value)))
                .build());
  }

  @Override
  public void close() {
    channel.shutdownNow();
  }
}
