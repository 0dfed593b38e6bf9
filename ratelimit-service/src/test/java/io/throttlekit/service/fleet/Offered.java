package io.throttlekit.service.fleet;

import io.envoyproxy.envoy.extensions.common.ratelimit.v3.RateLimitDescriptor;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitRequest;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitResponse.Code;
import io.envoyproxy.envoy.service.ratelimit.v3.RateLimitServiceGrpc;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.StreamObserver;
import io.throttlekit.testkit.WindowTally;
import io.throttlekit.testkit.WindowTally.Window;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/**
 * Requests for one counter at a steady rate to each node of a fleet, from when it is made until
 * {@link #stop}, counted by the windows of this machine's clock, which is also that of every
 * process and store. Requests to a node are held back while many of its answers are outstanding, so
 * that a machine slower than the rate is not overloaded.
 */
final class Offered implements AutoCloseable {
  private static final long TICK_MILLIS = 5;
  private static final Duration POLL = Duration.ofMillis(20);
  private static final Duration DEADLINE = Duration.ofMinutes(2);

  /** Of each node. */
  private static final int MAX_UNDER_WAY = 100;

  /** The requests that are sent to each node in turn. */
  private final List<List<RateLimitRequest>> requests;

  private final long windowMillis;
  private final List<ManagedChannel> channels = new ArrayList<>();
  private final AtomicLongArray lastAdmittedNanos;
  private final WindowTally admitted;
  private final WindowTally asked;
  private final WindowTally refusedRequests;
  private final AtomicLongArray refusedSince;
  private final LongAdder refused = new LongAdder();
  private final ConcurrentMap<String, Integer> failures = new ConcurrentHashMap<>();
  private final AtomicLongArray underWay;
  private final ScheduledExecutorService ticks = Executors.newSingleThreadScheduledExecutor();
  private volatile Rate rate;

  /** The number of requests due per node since a start. */
  private record Rate(List<Integer> perSecond, long sinceNanos, AtomicLongArray sent) {
    static Rate fromNow(List<Integer> perSecond) {
      return new Rate(perSecond, System.nanoTime(), new AtomicLongArray(perSecond.size()));
    }

    long due(int node) {
      return perSecond.get(node) * (System.nanoTime() - sinceNanos) / 1_000_000_000;
    }
  }

  /**
   * Begins to send requests of one unit.
   *
   * @param perSecond requests for each node
   * @param windowMillis length of the policy's window in ms
   */
  Offered(
      List<Integer> ports, List<Integer> perSecond, long windowMillis, String key, String value) {
    this(ports, perSecond, windowMillis, key, value, List.of(1));
  }

  /**
   * Begins.
   *
   * @param perSecond requests for each node
   * @param windowMillis length of the policy's window in ms
   * @param costs units of the requests to a node, in turn
   */
  Offered(
      List<Integer> ports,
      List<Integer> perSecond,
      long windowMillis,
      String key,
      String value,
      List<Integer> costs) {
    this(
        ports,
        perSecond,
        windowMillis,
        Collections.nCopies(
            ports.size(), costs.stream().map(cost -> request(cost, key, value)).toList()));
  }

  /**
   * Begins.
   *
   * @param ports of the nodes; a process that is several nodes is offered different requests
   * @param perSecond requests for each node
   * @param windowMillis length of the policy's window in ms
   * @param requests those to each node, in turn
   */
  Offered(
      List<Integer> ports,
      List<Integer> perSecond,
      long windowMillis,
      List<List<RateLimitRequest>> requests) {
    this.rate = Rate.fromNow(perSecond);
    this.windowMillis = windowMillis;
    this.requests = requests;
    this.admitted = new WindowTally(windowMillis, ports.size());
    this.asked = new WindowTally(windowMillis, ports.size());
    this.refusedRequests = new WindowTally(windowMillis, ports.size());
    this.lastAdmittedNanos = new AtomicLongArray(ports.size());
    this.refusedSince = new AtomicLongArray(ports.size());
    this.underWay = new AtomicLongArray(ports.size());
    for (int node = 0; node < ports.size(); node++) {
      lastAdmittedNanos.set(node, rate.sinceNanos);
      channels.add(
          NettyChannelBuilder.forAddress("127.0.0.1", ports.get(node))
              .usePlaintext()
              .directExecutor()
              .build());
    }
    var _ = ticks.scheduleAtFixedRate(this::tick, 0, TICK_MILLIS, TimeUnit.MILLISECONDS);
  }

  /** Returns a request of one descriptor: keys and values in turn. */
  static RateLimitRequest request(int cost, String... entries) {
    RateLimitDescriptor.Builder descriptor = RateLimitDescriptor.newBuilder();
    for (int i = 0; i < entries.length; i += 2) {
      descriptor.addEntriesBuilder().setKey(entries[i]).setValue(entries[i + 1]);
    }
    return RateLimitRequest.newBuilder()
        .setDomain("fleet")
        .setHitsAddend(cost)
        .addDescriptors(descriptor)
        .build();
  }

  /** Continues at another rate. */
  void goOnWith(List<Integer> perSecond) {
    rate = Rate.fromNow(perSecond);
  }

  /** Waits for a condition while requests are offered. */
  void await(String what, BooleanSupplier condition) {
    Awaitility.await(what)
        .pollInterval(POLL)
        .pollDelay(Duration.ZERO)
        .until(condition::getAsBoolean);
  }

  /** Waits until nodes have only refused for the length of a window. */
  void awaitSilenceOf(Integer... nodes) {
    long since = System.nanoTime();
    for (int node : nodes) {
      refusedSince.set(node, 0);
    }
    await(
        "silence of nodes " + List.of(nodes),
        () -> Stream.of(nodes).allMatch(node -> isSilent(node, since)));
  }

  private boolean isSilent(int node, long sinceNanos) {
    long quiet = System.nanoTime() - Math.max(sinceNanos, lastAdmittedNanos.get(node));
    long most = rate.perSecond.get(node) * windowMillis / 1000;
    return quiet > TimeUnit.MILLISECONDS.toNanos(windowMillis) && refusedSince.get(node) > most / 2;
  }

  /** Waits until another window has begun. */
  void awaitNextWindow() {
    long now = currentWindowEndMillis();
    await("the next window", () -> currentWindowEndMillis() > now);
  }

  /** Waits for a complete window that began after now and meets the condition. */
  void awaitWindow(String which, Predicate<Window> condition) {
    long now = currentWindowEndMillis();
    await(
        "a window " + which,
        () ->
            wholeWindows().stream()
                .anyMatch(window -> window.endMillis() > now && condition.test(window)));
  }

  /** Returns the end of the current window. */
  long currentWindowEndMillis() {
    return admitted.endMillis(System.currentTimeMillis());
  }

  /** Returns the admitted units, by window and node. */
  WindowTally admitted() {
    return admitted;
  }

  /** Returns the requested units, by window and node, for any answer. */
  WindowTally asked() {
    return asked;
  }

  /** Returns the ended windows during which requests were offered throughout. */
  List<Window> wholeWindows() {
    List<Window> whole = admitted.windows();
    return whole.size() < 2 ? List.of() : whole.subList(1, whole.size() - 1);
  }

  /**
   * Returns whether each of these nodes surely refused so many requests in a window: the fleet had
   * time to spend all units, however slow this machine is.
   */
  boolean isExhausted(Window window, long refusals, List<Integer> nodes) {
    Window refused = refusedRequests.window(window.endMillis());
    return nodes.stream().allMatch(node -> refused.by(node) >= refusals);
  }

  /** Returns how many requests of one unit to a node were surely decided in a window. */
  long decided(Window window, int node) {
    long endMillis = window.endMillis();
    return admitted.window(endMillis).by(node) + refusedRequests.window(endMillis).by(node);
  }

  long refused() {
    return refused.sum();
  }

  /** Returns how many requests failed, by the status of the answer. */
  Map<String, Integer> failures() {
    return failures;
  }

  /** Sends each node one additional request, and waits for all answers. */
  void once() {
    for (int node = 0; node < channels.size(); node++) {
      sendRequest(node, requests.get(node).getFirst());
    }
    awaitAnswers();
  }

  /** Stops offering requests, and waits for the last answers. */
  void stop() {
    ticks.close();
    awaitAnswers();
  }

  private void awaitAnswers() {
    await(
        "the last answers",
        () -> IntStream.range(0, channels.size()).allMatch(node -> underWay.get(node) == 0));
  }

  @Override
  public void close() {
    ticks.shutdownNow();
    channels.forEach(ManagedChannel::shutdownNow);
  }

  private void tick() {
    Rate now = rate;
    for (int node = 0; node < channels.size(); node++) {
      long due = now.due(node);
      while (now.sent.get(node) < due && underWay.get(node) < MAX_UNDER_WAY) {
        long turn = now.sent.getAndIncrement(node);
        List<RateLimitRequest> inTurn = requests.get(node);
        sendRequest(node, inTurn.get(Math.toIntExact(turn % inTurn.size())));
      }
    }
  }

  private void sendRequest(int node, RateLimitRequest request) {
    underWay.incrementAndGet(node);
    int cost = request.getHitsAddend();
    RateLimitServiceGrpc.newStub(channels.get(node))
        .withDeadlineAfter(DEADLINE)
        .shouldRateLimit(request, new Counting(node, cost));
  }

  private final class Counting implements StreamObserver<RateLimitResponse> {
    private final int node;
    private final int cost;
    private final long sentMillis = System.currentTimeMillis();

    Counting(int node, int cost) {
      this.node = node;
      this.cost = cost;
      asked.admitted(node, sentMillis, sentMillis, cost);
    }

    @Override
    public void onNext(RateLimitResponse response) {
      if (response.getOverallCode() != Code.OK) {
        refused.increment();
        refusedRequests.admitted(node, sentMillis, System.currentTimeMillis());
        refusedSince.incrementAndGet(node);
        return;
      }
      admitted.admitted(node, sentMillis, System.currentTimeMillis(), cost);
      lastAdmittedNanos.set(node, System.nanoTime());
      refusedSince.set(node, 0);
    }

    @Override
    public void onError(Throwable error) {
      failures.merge(Status.fromThrowable(error).getCode().name(), 1, Integer::sum);
      underWay.decrementAndGet(node);
    }

    @Override
    public void onCompleted() {
      underWay.decrementAndGet(node);
    }
  }
}
