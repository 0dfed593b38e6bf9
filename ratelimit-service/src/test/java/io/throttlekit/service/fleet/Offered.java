package io.throttlekit.service.fleet;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;

/**
 * Requests for one counter at a steady rate to each node of a fleet, counted by the end of the
 * window that each answer tells. Bounded: it lasts as long as it was told to.
 */
final class Offered implements AutoCloseable {
  private static final long TICK_MILLIS = 5;
  private final RateLimitRequest request;
  private final long windowMillis;
  private final List<ManagedChannel> channels = new ArrayList<>();
  private final List<AtomicLong> sent = new ArrayList<>();
  private final ConcurrentSkipListMap<Long, LongAdder> admitted = new ConcurrentSkipListMap<>();
  private final List<LongAdder> admittedBy = new ArrayList<>();
  private final LongAdder refused = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final ScheduledExecutorService ticks = Executors.newSingleThreadScheduledExecutor();

  /**
   * @param windowMillis length of the policy's window in ms, from 2000: answers tell whole seconds
   */
  Offered(List<Integer> ports, long windowMillis) {
    this(ports, windowMillis, "user", "anna");
  }

  /** The same, for another counter. */
  Offered(List<Integer> ports, long windowMillis, String key, String value) {
    this.windowMillis = windowMillis;
    this.request = request(key, value);
    for (int port : ports) {
      channels.add(
          NettyChannelBuilder.forAddress("127.0.0.1", port)
              .usePlaintext()
              .directExecutor()
              .build());
      sent.add(new AtomicLong());
      admittedBy.add(new LongAdder());
    }
  }

  /**
   * Offers so many requests a second to each node, and waits until the time is over.
   *
   * @param midway done once, half way
   */
  void run(List<Integer> perSecond, Duration time, Runnable midway) throws InterruptedException {
    long begun = System.nanoTime();
    List<Long> before = sent.stream().map(AtomicLong::get).toList();
    CountDownLatch over = new CountDownLatch(1);
    var tick =
        ticks.scheduleAtFixedRate(
            () -> {
              long elapsed = System.nanoTime() - begun;
              for (int n = 0; n < channels.size(); n++) {
                long due = before.get(n) + perSecond.get(n) * elapsed / 1_000_000_000;
                while (sent.get(n).get() < due) {
                  sent.get(n).incrementAndGet();
                  ask(n);
                }
              }
            },
            0,
            TICK_MILLIS,
            TimeUnit.MILLISECONDS);
    var half =
        ticks.schedule(
            () -> new Thread(midway).start(), time.toMillis() / 2, TimeUnit.MILLISECONDS);
    var end = ticks.schedule(over::countDown, time.toMillis(), TimeUnit.MILLISECONDS);
    over.await();
    tick.cancel(false);
    half.cancel(false);
    end.cancel(false);
  }

  /** What was admitted in every window, by its end. */
  NavigableMap<Long, Long> allWindows() {
    TreeMap<Long, Long> all = new TreeMap<>();
    admitted.forEach((end, count) -> all.put(end, count.sum()));
    return all;
  }

  /** What was admitted in every window that lasted while requests were offered, by its end. */
  NavigableMap<Long, Long> completeWindows() {
    NavigableMap<Long, Long> complete = allWindows();
    complete.pollFirstEntry();
    complete.pollLastEntry();
    return complete;
  }

  /** What a node has admitted so far. */
  long admittedBy(int node) {
    return admittedBy.get(node).sum();
  }

  long refused() {
    return refused.sum();
  }

  long failed() {
    return failed.sum();
  }

  @Override
  public void close() {
    ticks.shutdownNow();
    channels.forEach(ManagedChannel::shutdownNow);
  }

  private static RateLimitRequest request(String key, String value) {
    return RateLimitRequest.newBuilder()
        .setDomain("fleet")
        .addDescriptors(
            RateLimitDescriptor.newBuilder()
                .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue(value)))
        .build();
  }

  private void ask(int node) {
    RateLimitServiceGrpc.newStub(channels.get(node))
        .withDeadlineAfter(Duration.ofSeconds(5))
        .shouldRateLimit(request, new Counting(node));
  }

  private final class Counting implements StreamObserver<RateLimitResponse> {
    private final int node;

    Counting(int node) {
      this.node = node;
    }

    @Override
    public void onNext(RateLimitResponse response) {
      if (response.getOverallCode() != Code.OK) {
        refused.increment();
        return;
      }
      // Seconds are rounded up, by less than one; no window is that short.
      long reset = response.getStatuses(0).getDurationUntilReset().getSeconds() * 1000;
      long end = (System.currentTimeMillis() + reset) / windowMillis * windowMillis;
      admitted.computeIfAbsent(end, any -> new LongAdder()).increment();
      admittedBy.get(node).increment();
    }

    @Override
    public void onError(Throwable error) {
      failed.increment();
    }

    @Override
    public void onCompleted() {}
  }
}
