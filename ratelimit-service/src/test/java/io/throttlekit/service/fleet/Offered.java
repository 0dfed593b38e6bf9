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
import java.util.Map;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import org.awaitility.Awaitility;

/**
 * Requests for one counter at a steady rate to each node of a fleet, from when it is made until
 * {@link #stop}, counted by the end of the window that each answer tells.
 */
final class Offered implements AutoCloseable {
  private static final long TICK_MILLIS = 5;
  private static final long SKEW_MILLIS = 200;
  private static final Duration PATIENCE = Duration.ofSeconds(60);
  private static final Duration POLL = Duration.ofMillis(20);
  private static final long ANSWER_SECONDS = 5;

  private final RateLimitRequest request;
  private final long windowMillis;
  private final List<Integer> perSecond;
  private final List<ManagedChannel> channels = new ArrayList<>();
  private final AtomicLongArray sent;
  private final AtomicLongArray lastAdmittedNanos;
  private final ConcurrentSkipListMap<Long, AtomicLongArray> admitted =
      new ConcurrentSkipListMap<>();
  private final AtomicLongArray refusedSince;
  private final Map<Span, LongAdder> uncertain = new ConcurrentHashMap<>();
  private final LongAdder refused = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final AtomicLong underWay = new AtomicLong();
  private final long begunNanos = System.nanoTime();
  private final ScheduledExecutorService ticks = Executors.newSingleThreadScheduledExecutor();

  /** What was admitted in a window, by node. */
  record Window(long endMillis, List<Long> byNode) {
    long units() {
      return byNode.stream().mapToLong(Long::longValue).sum();
    }

    long by(int node) {
      return byNode.get(node);
    }
  }

  /** Ends of the windows that an answer may be of, because it took long to come. */
  private record Span(long earliestMillis, long latestMillis) {}

  /**
   * Begins.
   *
   * @param perSecond requests for each node
   * @param windowMillis length of the policy's window in ms, from 2000: answers tell whole seconds
   */
  Offered(
      List<Integer> ports, List<Integer> perSecond, long windowMillis, String key, String value) {
    this.perSecond = perSecond;
    this.windowMillis = windowMillis;
    this.request = request(key, value);
    this.sent = new AtomicLongArray(ports.size());
    this.lastAdmittedNanos = new AtomicLongArray(ports.size());
    this.refusedSince = new AtomicLongArray(ports.size());
    for (int node = 0; node < ports.size(); node++) {
      lastAdmittedNanos.set(node, begunNanos);
      channels.add(
          NettyChannelBuilder.forAddress("127.0.0.1", ports.get(node))
              .usePlaintext()
              .directExecutor()
              .build());
    }
    var _ = ticks.scheduleAtFixedRate(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  private static RateLimitRequest request(String key, String value) {
    return RateLimitRequest.newBuilder()
        .setDomain("fleet")
        .addDescriptors(
            RateLimitDescriptor.newBuilder()
                .addEntries(RateLimitDescriptor.Entry.newBuilder().setKey(key).setValue(value)))
        .build();
  }

  /** Waits for something while requests are offered. */
  void await(String what, BooleanSupplier condition) {
    Awaitility.await(what)
        .atMost(PATIENCE)
        .pollInterval(POLL)
        .pollDelay(Duration.ZERO)
        .until(condition::getAsBoolean);
  }

  /** Waits until a node has done nothing but refuse for as long as a window is. */
  void awaitSilenceOf(int node) {
    long since = System.nanoTime();
    refusedSince.set(node, 0);
    long most = perSecond.get(node) * windowMillis / 1000;
    await(
        "silence of node " + node,
        () -> {
          long quiet = System.nanoTime() - Math.max(since, lastAdmittedNanos.get(node));
          return quiet > TimeUnit.MILLISECONDS.toNanos(windowMillis)
              && refusedSince.get(node) > most / 2;
        });
  }

  /** The end of the window that lasts now. */
  long nowEndsMillis() {
    return System.currentTimeMillis() / windowMillis * windowMillis + windowMillis;
  }

  /** What was admitted in every window but those in which nothing was. */
  List<Window> windows() {
    List<Window> all = new ArrayList<>();
    admitted.forEach((end, units) -> {
      List<Long> byNode = new ArrayList<>();
      for (int node = 0; node < units.length(); node++) {
        byNode.add(units.get(node));
      }
      all.add(new Window(end, byNode));
    });
    return all;
  }

  /** Those that are over, and lasted wholly while requests were offered. */
  List<Window> wholeWindows() {
    List<Window> whole = windows();
    return whole.size() < 2 ? List.of() : whole.subList(1, whole.size() - 1);
  }

  /**
   * How many units were admitted beyond what any run of windows has; 0 or less for none. An answer
   * that was so late that nobody can say of which window it is counts only for runs that hold all
   * that it may be of.
   */
  long mostBeyond(long limit) {
    TreeSet<Long> ends = new TreeSet<>(admitted.keySet());
    uncertain
        .keySet()
        .forEach(span -> ends.addAll(List.of(span.earliestMillis, span.latestMillis)));
    long most = Long.MIN_VALUE;
    for (long first : ends) {
      for (long last : ends.tailSet(first)) {
        long units =
            windows().stream()
                .filter(window -> window.endMillis() >= first && window.endMillis() <= last)
                .mapToLong(Window::units)
                .sum();
        for (Map.Entry<Span, LongAdder> late : uncertain.entrySet()) {
          Span span = late.getKey();
          boolean inside = span.earliestMillis >= first && span.latestMillis <= last;
          units += inside ? late.getValue().sum() : 0;
        }
        most = Math.max(most, units - limit * ((last - first) / windowMillis + 1));
      }
    }
    return most;
  }

  long refused() {
    return refused.sum();
  }

  long failed() {
    return failed.sum();
  }

  /** Offers no more, and waits for the last answers. */
  void stop() {
    ticks.close();
    await("the last answers", () -> underWay.get() == 0);
  }

  @Override
  public void close() {
    ticks.shutdownNow();
    channels.forEach(ManagedChannel::shutdownNow);
  }

  private void tick() {
    long elapsed = System.nanoTime() - begunNanos;
    for (int node = 0; node < channels.size(); node++) {
      long due = perSecond.get(node) * elapsed / 1_000_000_000;
      while (sent.get(node) < due) {
        sent.incrementAndGet(node);
        ask(node);
      }
    }
  }

  private void ask(int node) {
    underWay.incrementAndGet();
    RateLimitServiceGrpc.newStub(channels.get(node))
        .withDeadlineAfter(Duration.ofSeconds(ANSWER_SECONDS))
        .shouldRateLimit(request, new Counting(node));
  }

  private final class Counting implements StreamObserver<RateLimitResponse> {
    private final int node;
    private final long askedMillis = System.currentTimeMillis();

    Counting(int node) {
      this.node = node;
    }

    @Override
    public void onNext(RateLimitResponse response) {
      if (response.getOverallCode() != Code.OK) {
        refused.increment();
        refusedSince.incrementAndGet(node);
        return;
      }
      // It was said between then and now, rounded up by less than a second, by a clock nearly ours.
      long reset = response.getStatuses(0).getDurationUntilReset().getSeconds() * 1000;
      long least = askedMillis + reset - 1000 - SKEW_MILLIS;
      long earliest = least / windowMillis * windowMillis + windowMillis;
      long most = System.currentTimeMillis() + reset + SKEW_MILLIS;
      long latest = most / windowMillis * windowMillis;
      if (earliest == latest) {
        admitted
            .computeIfAbsent(latest, _ -> new AtomicLongArray(channels.size()))
            .incrementAndGet(node);
      } else {
        uncertain.computeIfAbsent(new Span(earliest, latest), _ -> new LongAdder()).increment();
      }
      lastAdmittedNanos.set(node, System.nanoTime());
      refusedSince.set(node, 0);
    }

    @Override
    public void onError(Throwable error) {
      failed.increment();
      underWay.decrementAndGet();
    }

    @Override
    public void onCompleted() {
      underWay.decrementAndGet();
    }
  }
}
