package io.throttlekit.bench.chaos;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Distinct keys that come once each, a hundred in a request, to all processes; it ends when all
 * were answered.
 *
 * @param first the number of the first one
 * @param keys how many, from 1
 */
record KeyFlood(long first, int keys) implements Fault {
  private static final int IN_A_REQUEST = 100;

  @Override
  public String kind() {
    return "key flood";
  }

  @Override
  public Running begin(Stage stage) {
    List<Thread> threads = new ArrayList<>();
    for (int process = 0; process < ChaosFleet.PROCESSES; process++) {
      int number = process;
      threads.add(Thread.startVirtualThread(() -> send(stage, number)));
    }
    return () -> {
      for (Thread thread : threads) {
        thread.join();
      }
    };
  }

  private void send(Stage stage, int process) {
    ManagedChannel channel = Load.channel(stage.fleet().node(process).port());
    try {
      int part = Math.ceilDiv(keys, ChaosFleet.PROCESSES);
      long from = first + (long) process * part;
      for (long key = from; key < from + part; key += IN_A_REQUEST) {
        RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain(Counter.DOMAIN);
        for (int i = 0; i < IN_A_REQUEST; i++) {
          request.addDescriptors(Counter.descriptor(Counters.FLOOD, "k" + (key + i)));
        }
        send(stage, channel, request.build());
      }
    } finally {
      channel.shutdownNow();
    }
  }

  private static void send(Stage stage, ManagedChannel channel, RateLimitRequest request) {
    try {
      var _ =
          RateLimitServiceGrpc.newBlockingStub(channel)
              .withDeadlineAfter(Load.ANSWER_SECONDS, TimeUnit.SECONDS)
              .shouldRateLimit(request);
    } catch (StatusRuntimeException _) {
      // a process that is away fails a part of the flood at once
    }
    stage.floodedKeys().add(IN_A_REQUEST);
  }
}
