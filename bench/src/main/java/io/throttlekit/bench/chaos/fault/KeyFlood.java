package io.throttlekit.bench.chaos.fault;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.StatusRuntimeException;
import io.throttlekit.TimeSource;
import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.fleet.Counter;
import io.throttlekit.bench.chaos.fleet.Counters;
import io.throttlekit.bench.chaos.fleet.ServiceNode;
import io.throttlekit.bench.chaos.traffic.Load;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/**
 * Distinct keys, a hundred in a request, to all processes. The fault ends when all were answered. A
 * failed request is repeated with the same keys, to the current process.
 *
 * @param first number of the first key
 * @param keys number of keys, from 1
 */
public record KeyFlood(long first, int keys) implements Fault {
  private static final int IN_A_REQUEST = 100;
  // Longer than any fault, and the restart of a killed process.
  private static final long MAX_SILENCE_NANOS = TimeUnit.MINUTES.toNanos(2);
  // Between attempts at a process that does not answer.
  private static final long PAUSE_MILLIS = 200;

  @Override
  public String kind() {
    return "key flood";
  }

  @Override
  public int region() {
    return NO_REGION;
  }

  @Override
  public Running begin(Stage stage) {
    LongAdder answered = new LongAdder();
    List<Thread> threads = new ArrayList<>();
    for (int process = 0; process < ChaosFleet.PROCESSES; process++) {
      int number = process;
      threads.add(Thread.startVirtualThread(() -> send(stage, number, answered)));
    }
    return new Running() {
      @Override
      public void end() throws InterruptedException {
        for (Thread thread : threads) {
          thread.join();
        }
        stage.floodedKeys().add(answered.sum());
      }

      @Override
      public String extent() {
        return answered.sum() + " keys answered";
      }
    };
  }

  private void send(Stage stage, int process, LongAdder answered) {
    int part = Math.ceilDiv(keys, ChaosFleet.PROCESSES);
    long from = first + (long) process * part;
    long end = Math.min(from + part, first + keys);
    ServiceNode node = stage.fleet().node(process);
    ManagedChannel channel = Load.channel(node.port());
    try {
      long answeredNanos = TimeSource.system().monotonicNanos();
      long key = from;
      while (key < end
          && TimeSource.system().monotonicNanos() - answeredNanos < MAX_SILENCE_NANOS) {
        long next = Math.min(key + IN_A_REQUEST, end);
        if (isAnswered(channel, request(key, next))) {
          answered.add(next - key);
          key = next;
          answeredNanos = TimeSource.system().monotonicNanos();
          continue;
        }
        TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
        if (!node.equals(stage.fleet().node(process))) {
          channel.shutdownNow();
          node = stage.fleet().node(process);
          channel = Load.channel(node.port());
        }
      }
      if (key < end) {
        stage.problems().add("process " + process + " answered no keys of a flood for two minutes");
      }
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } finally {
      channel.shutdownNow();
    }
  }

  private static RateLimitRequest request(long from, long to) {
    RateLimitRequest.Builder request = RateLimitRequest.newBuilder().setDomain(Counter.DOMAIN);
    for (long key = from; key < to; key++) {
      request.addDescriptors(Counter.descriptor(Counters.FLOOD, "k" + key));
    }
    return request.build();
  }

  private static boolean isAnswered(ManagedChannel channel, RateLimitRequest request) {
    try {
      var _ =
          RateLimitServiceGrpc.newBlockingStub(channel)
              .withDeadlineAfter(Load.ANSWER_SECONDS, TimeUnit.SECONDS)
              .shouldRateLimit(request);
      return true;
    } catch (StatusRuntimeException _) {
      return false;
    }
  }
}
