package io.throttlekit.bench.chaos.fault;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.fleet.Counter;
import io.throttlekit.bench.chaos.fleet.Counters;
import io.throttlekit.bench.chaos.traffic.Load;
import java.util.concurrent.TimeUnit;

/**
 * Distinct keys with values of many bytes for a leased rule of a process, one after the other.
 *
 * @param keys number of keys, from 1
 * @param bytes of each value
 */
public record LongKeys(int process, int keys, int bytes) implements Fault {

  @Override
  public String kind() {
    return "long keys";
  }

  @Override
  public int region() {
    return ChaosFleet.regionOf(process);
  }

  @Override
  public Running begin(Stage stage) {
    ManagedChannel channel = Load.channel(stage.fleet().node(process).port());
    Thread thread = Thread.startVirtualThread(() -> send(channel));
    return () -> {
      thread.interrupt();
      thread.join();
      channel.shutdownNow();
    };
  }

  private void send(ManagedChannel channel) {
    String filling = "x".repeat(bytes);
    for (int key = 0; key < keys && !Thread.currentThread().isInterrupted(); key++) {
      try {
        var _ =
            RateLimitServiceGrpc.newBlockingStub(channel)
                .withDeadlineAfter(Load.ANSWER_SECONDS, TimeUnit.SECONDS)
                .shouldRateLimit(Counter.request(Counters.LONG, key + filling));
      } catch (StatusRuntimeException _) {
        // refused, or the process does not run
      }
    }
  }
}
