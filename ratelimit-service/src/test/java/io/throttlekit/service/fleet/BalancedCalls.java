package io.throttlekit.service.fleet;

import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/**
 * Requests at a steady rate to the replicas in turn that are ready, as a load balancer with health
 * checks spreads them. None is repeated.
 */
final class BalancedCalls implements AutoCloseable {
  private static final long TICK_MILLIS = 5;
  private static final long CHECK_MILLIS = 50;
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  /** A replica, and what the load balancer knows of it. */
  private static final class Replica {
    private final ManagedChannel channel;
    private final URI ready;
    private final LongAdder answered = new LongAdder();
    private volatile boolean isReady;

    Replica(ServiceProcess process) {
      this.channel =
          NettyChannelBuilder.forAddress("127.0.0.1", process.port())
              .usePlaintext()
              .directExecutor()
              .build();
      this.ready = URI.create("http://127.0.0.1:" + process.httpPort() + "/readyz");
    }
  }

  private final List<RateLimitRequest> requests;
  private final List<Replica> replicas = new CopyOnWriteArrayList<>();
  private final ConcurrentMap<String, Integer> failures = new ConcurrentHashMap<>();
  private final AtomicLong turn = new AtomicLong();
  private final AtomicLong underWay = new AtomicLong();
  private final HttpClient http = HttpClient.newHttpClient();
  private final ScheduledExecutorService ticks = Executors.newSingleThreadScheduledExecutor();
  private final ScheduledExecutorService checks = Executors.newSingleThreadScheduledExecutor();

  /** Begins to send these requests in turn, as soon as a replica is ready. */
  BalancedCalls(List<ServiceProcess> processes, List<RateLimitRequest> requests) {
    this.requests = requests;
    processes.forEach(this::add);
    var _ = checks.scheduleWithFixedDelay(this::check, 0, CHECK_MILLIS, TimeUnit.MILLISECONDS);
    Awaitility.await("ready replicas")
        .until(() -> replicas.stream().allMatch(each -> each.isReady));
    var _ = ticks.scheduleAtFixedRate(this::send, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Includes a replica from when it is ready. */
  void add(ServiceProcess process) {
    replicas.add(new Replica(process));
  }

  /** Waits until the replica that was added last has answered so many requests. */
  void awaitAnswersOfLast(long answers) {
    Replica last = replicas.getLast();
    Awaitility.await("answers of a replica").until(() -> last.answered.sum() >= answers);
  }

  /** Stops sending, and waits for the last answers. */
  void stop() {
    ticks.close();
    Awaitility.await("the last answers").until(() -> underWay.get() == 0);
  }

  /** Returns how many requests were sent. */
  long sent() {
    return turn.get();
  }

  /** Returns the number of requests without an OK, by the reason. */
  Map<String, Integer> failures() {
    return failures;
  }

  @Override
  public void close() {
    ticks.shutdownNow();
    checks.shutdownNow();
    replicas.forEach(each -> each.channel.shutdownNow());
    http.shutdownNow();
  }

  private void check() {
    for (Replica each : replicas) {
      try {
        HttpRequest request = HttpRequest.newBuilder(each.ready).timeout(DEADLINE).build();
        each.isReady = http.send(request, BodyHandlers.discarding()).statusCode() == 200;
      } catch (IOException gone) {
        each.isReady = false;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
  }

  private void send() {
    long next = turn.getAndIncrement();
    Replica replica = ready(next);
    if (replica == null) {
      failed("no replica is ready");
      return;
    }
    underWay.incrementAndGet();
    RateLimitServiceGrpc.newStub(replica.channel)
        .withDeadlineAfter(DEADLINE)
        .shouldRateLimit(
            requests.get(Math.toIntExact(next % requests.size())), new Answer(replica));
  }

  private @Nullable Replica ready(long next) {
    List<Replica> ready = replicas.stream().filter(each -> each.isReady).toList();
    return ready.isEmpty() ? null : ready.get(Math.toIntExact(next % ready.size()));
  }

  private void failed(String reason) {
    failures.merge(reason, 1, Integer::sum);
  }

  private final class Answer implements StreamObserver<RateLimitResponse> {
    private final Replica replica;

    Answer(Replica replica) {
      this.replica = replica;
    }

    @Override
    public void onNext(RateLimitResponse response) {
      replica.answered.increment();
      if (response.getOverallCode() != Code.OK) {
        failed(response.getOverallCode().name());
      }
    }

    @Override
    public void onError(Throwable error) {
      failed(Status.fromThrowable(error).toString());
      underWay.decrementAndGet();
    }

    @Override
    public void onCompleted() {
      underWay.decrementAndGet();
    }
  }
}
