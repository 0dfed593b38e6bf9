package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.answer;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.FederatedLimiter;
import io.throttlekit.federation.Federation;
import io.throttlekit.federation.FederationListener;
import io.throttlekit.federation.FederationSettings;
import io.throttlekit.federation.Loss;
import io.throttlekit.lease.Tier;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.once.Clocks;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.StoreListener;
import io.throttlekit.store.Terms;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RedisProcess;
import io.throttlekit.tier.Outage;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A process of a region that leases units of a budget through proxies of its own, to the region's
 * Redis and to the coordinator's. For one thread.
 */
final class LeasingProcess implements AutoCloseable {
  /** Units of a lease; the coordinator grants a region four leases at once. */
  static final long LEASE = 20;

  static final int REGIONAL_LEASES = 4;

  private static final long WAIT_TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(10);

  final UnansweredCalls calls = new UnansweredCalls();

  /** Lost units, as counted by the process. */
  final AtomicLong lost = new AtomicLong();

  private final FixedWindow window;
  private final CounterKey key;
  private final Tier.Global tier;
  private final TcpProxy toRegion;
  private final TcpProxy toCoordinator;
  private final UnansweredCalls.ToEscrow escrow;
  private final UnansweredCalls.ToCoordinator coordinator;
  private final FederatedLimiter limiter;

  /** Connects; {@code beforeRefill} runs before each refill of the region's Redis. */
  LeasingProcess(
      String name, long limit, RedisProcess region, RedisProcess global, Runnable beforeRefill) {
    window = new FixedWindow(limit, StoreCalls.FIVE.windowMillis());
    key = StoreCalls.key(window, "leased");
    Terms terms = new Terms("shop", List.of(window));
    tier = new Tier.Global(new LeaseSize.Fixed(LEASE), 0, 0, terms, DataLoss.REFILL, false);
    toRegion = TcpProxy.to(region.port());
    toCoordinator = TcpProxy.to(global.port());
    escrow =
        new UnansweredCalls.ToEscrow(
            calls, Stores.escrow(wanted(toRegion), StoreListener.NONE), beforeRefill);
    coordinator =
        new UnansweredCalls.ToCoordinator(
            calls, Stores.coordinator(wanted(toCoordinator), StoreListener.NONE));
    TimeSource time = TimeSource.system();
    Federation federation =
        new Federation(
            coordinator,
            escrow,
            new Clocks(time, LeasingProcess::runAfter),
            new FederationSettings("eu", name, REGIONAL_LEASES, 100),
            new FederationListener() {
              @Override
              public void lost(Loss where, long units) {
                lost.addAndGet(units);
              }
            });
    limiter =
        new FederatedLimiter(
            federation,
            time,
            LeasingProcess::runAfter,
            new TierSettings(100, WAIT_TIMEOUT_NANOS, 0.5),
            TierListener.NONE);
  }

  private static Wanted wanted(TcpProxy proxy) {
    return Wanted.redis("redis://127.0.0.1:" + proxy.port())
        .deadlines(10_000, 10_000)
        .breaker(1_000, 60_000, 10);
  }

  private static void runAfter(long nanos, Runnable task) {
    CompletableFuture.delayedExecutor(nanos, TimeUnit.NANOSECONDS).execute(task);
  }

  /** Returns how many of {@code requests} successive requests are admitted. */
  long admittedOf(long requests) {
    long admitted = 0;
    for (long i = 0; i < requests; i++) {
      admitted += answer(charge()).admitted() ? 1 : 0;
    }
    return admitted;
  }

  /** Returns how many successive requests are admitted until one is refused. */
  long admittedUntilRefused() {
    long admitted = 0;
    while (answer(charge()).admitted()) {
      admitted++;
    }
    return admitted;
  }

  /**
   * Returns how many of {@code requests} concurrent requests are admitted if the answers to their
   * first calls are lost with the connections.
   */
  long admittedThoughAnswersAreLost(int requests) {
    int failedBefore = calls.failed.get();
    toRegion.hangReplies();
    toCoordinator.hangReplies();
    List<CompletionStage<Decision>> decisions = new ArrayList<>();
    for (int i = 0; i < requests; i++) {
      decisions.add(charge());
    }
    StoreCalls.await("a call", () -> !calls.isEmpty());
    toRegion.cut();
    toCoordinator.cut();
    StoreCalls.await("a lost answer", () -> calls.failed.get() > failedBefore);
    toRegion.goOn();
    toCoordinator.goOn();
    return decisions.stream().filter(each -> answer(each).admitted()).count();
  }

  /** Waits until all its calls have been answered or have failed. */
  void awaitAnswers() {
    StoreCalls.await("answers", calls::isEmpty);
  }

  /** Cuts its connections in both directions, and rejects new ones. */
  void cutOff() {
    toRegion.refuse();
    toCoordinator.refuse();
  }

  private CompletionStage<Decision> charge() {
    return limiter.charge(key, window, tier, 1, Outage.DENY);
  }

  /** Ends it without notice, as a kill does. */
  @Override
  public void close() {
    cutOff();
    escrow.close();
    coordinator.close();
    toRegion.close();
    toCoordinator.close();
  }
}
