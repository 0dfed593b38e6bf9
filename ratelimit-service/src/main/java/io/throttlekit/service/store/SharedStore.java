package io.throttlekit.service.store;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.PolicyBook;
import io.throttlekit.redis.RedisCounterStore;
import io.throttlekit.service.concurrency.RequestPermits;
import io.throttlekit.service.config.FederationConfig;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreConfig;
import io.throttlekit.service.store.BackendState.Role;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.StoreListener;
import io.throttlekit.tier.TierListener;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Tiers;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The state that this process shares with others: the store of its region, the coordinator of all
 * regions, and the tiers in front of them.
 *
 * <p>Can be created while none of them is reachable. Thread-safe.
 */
public final class SharedStore implements AutoCloseable {
  /** Connections to a PostgreSQL, whatever the size of this process. */
  public static final int POSTGRES_CONNECTIONS = Backends.POSTGRES_CONNECTIONS;

  private static final Logger LOG = LoggerFactory.getLogger(SharedStore.class);

  /** Maximum time that a start waits for the first answers: a store may be away for long. */
  private static final Duration MAX_WAIT = Duration.ofSeconds(2);

  /** Calls per lease at shutdown: a lease in flight is returned after it was answered. */
  private static final int CALLS_TO_RETURN = 2;

  /** The second Redis, for the counters of limits per second. */
  private record Second(Backend<RedisCounterStore> counters, BackendState state) {}

  private final TimeSource time;
  private final long deadlineNanos;
  private final long closingNanos;
  private final Backend<CounterStore> counters;
  private final BackendState state;
  private final @Nullable Second second;

  /** Counters of both. */
  private final CounterStore store;

  private final @Nullable Regions regions;
  private final Tiers tiers;
  private final Backends backends;
  private final StoreConfig config;

  // Guarded by this.
  private @Nullable ForwardedReleases releases;
  private @Nullable Backend<SteeringExchange> steering;

  /** Of concurrency limits; null where counters are in the memory of this process. */
  private final @Nullable ConcurrencyCoordinators limits;

  /**
   * Connects in the background, on the threads of {@code loops}.
   *
   * @param federation how limits are shared with other regions; null when they are not
   * @param loops of the server, so that a request stays on its thread; not shut down here
   * @param reachable notified when the store begins or ceases to answer
   * @throws IllegalArgumentException when an address is invalid
   */
  public SharedStore(
      StoreConfig config,
      @Nullable FederationConfig federation,
      EventLoopGroup loops,
      StoreListeners listeners,
      TimeSource time,
      Consumer<Boolean> reachable) {
    this.time = time;
    this.deadlineNanos = config.deadlines().call().toNanos();
    Duration far = federation == null ? Duration.ZERO : federation.deadline();
    Duration near = config.deadlines().call().plus(config.deadlines().lease());
    this.closingNanos = near.plus(far).toNanos() * CALLS_TO_RETURN;
    StoreConfig perSecond = config.secondStore();
    AllReachable both = new AllReachable(reachable, perSecond == null ? 1 : 2);
    this.state =
        BackendState.of(
            perSecond == null ? Role.STORE : Role.OTHERS,
            config.address(),
            listeners,
            both.of(0),
            time);
    Scheduler timer =
        (nanos, task) -> {
          var _ = loops.schedule(task, nanos, TimeUnit.NANOSECONDS);
        };
    this.backends = new Backends(time, loops, timer);
    this.config = config;
    this.counters = backends.counters(config, state);
    this.second = perSecond == null ? null : second(perSecond, listeners, both.of(1));
    this.store =
        second != null && counters.api() instanceof RedisCounterStore others
            ? new PerSecondStore(second.counters.api(), others)
            : counters.api();
    this.limits =
        config.address().inMemory()
            ? null
            : new ConcurrencyCoordinators(
                terms -> backends.concurrency(config, terms, StoreListener.NONE));
    try {
      this.regions =
          federation == null ? null : new Regions(backends, federation, config, state, listeners);
    } catch (IllegalArgumentException e) {
      closeCounters(time.monotonicNanos() + closingNanos);
      throw e;
    }
    TierSettings tierSettings = tierSettings(config);
    TierListener tierListener = listeners.tiers();
    CounterStore traced =
        config.address().inMemory()
            ? store
            : listeners.traced(store, addresses(config.address(), perSecond));
    this.tiers =
        regions == null
            ? new Tiers(traced, time, timer, tierSettings, tierListener)
            : new Tiers(traced, regions.federation, time, timer, tierSettings, tierListener);
    state.whenDataIsLost(tiers::forgetRefusals);
    if (second != null) {
      second.state.whenDataIsLost(tiers::forgetRefusals);
    }
    if (regions != null) {
      regions.state.whenDataIsLost(tiers::forgetRefusals);
    }
  }

  private Second second(
      StoreConfig perSecond, StoreListeners listeners, Consumer<Boolean> reachable) {
    BackendState itsState =
        BackendState.of(Role.PER_SECOND, perSecond.address(), listeners, reachable, time);
    try {
      return new Second(backends.perSecond(perSecond, itsState), itsState);
    } catch (IllegalArgumentException e) {
      close(counters, time.monotonicNanos() + closingNanos);
      throw e;
    }
  }

  private static String addresses(StoreAddress main, @Nullable StoreConfig perSecond) {
    return perSecond == null ? main.toString() : main + ", per second " + perSecond.address();
  }

  /** Returns the settings of tiers over a store that is configured like this. */
  public static TierSettings tierSettings(StoreConfig config) {
    return new TierSettings(
        config.maxLeaseCells(), config.deadlines().call().toNanos(), config.localShare());
  }

  /**
   * The backends that have answered.
   *
   * @param store of the region, with its second Redis
   * @param coordinator of all regions; true where there is none
   */
  public record Answering(boolean store, boolean coordinator) {
    /** Returns whether both have answered. */
    public boolean all() {
      return store && coordinator;
    }
  }

  /**
   * Waits at most 2 s until the store answers as fast as requests need it and the coordinator
   * answers: connections must be established, and a new JVM takes longer for its first calls than a
   * request may wait. The two are awaited concurrently, and nothing is written. A store whose
   * answers are still slow at the end counts as answering. Warns of those that do not answer.
   *
   * @return the backends that have answered; the others may answer later
   */
  public Answering awaitAnswers() throws InterruptedException {
    ReadinessProbe probe = new ReadinessProbe(time, time.monotonicNanos() + MAX_WAIT.toNanos());
    Regions far = regions;
    FutureTask<Boolean> coordinator = begun(() -> far == null || far.awaitCoordinator(probe));
    FutureTask<Boolean> escrow = begun(() -> far == null || far.awaitEscrow(probe));
    Second other = second;
    FutureTask<Boolean> perSecond =
        begun(() -> other == null || probe.awaitCounters(other.counters, deadlineNanos));
    try {
      boolean near = probe.awaitCounters(counters, deadlineNanos);
      near &= perSecond.get();
      var _ = escrow.get();
      Answering answering = new Answering(near, coordinator.get());
      if (!answering.all()) {
        warnOfUnanswering();
      }
      return answering;
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } finally {
      coordinator.cancel(true); // no effect when it is done
      escrow.cancel(true);
      perSecond.cancel(true);
    }
  }

  /** Warns of backends that do not answer. One that was only slow may answer by now. */
  private void warnOfUnanswering() {
    String silent =
        Stream.of(
                state, second == null ? null : second.state, regions == null ? null : regions.state)
            .filter(Objects::nonNull)
            .map(BackendState::describeUnanswering)
            .filter(text -> !text.isEmpty())
            .collect(Collectors.joining("; "));
    if (!silent.isEmpty()) {
      LOG.warn("{}; on_outage of each rule decides meanwhile", silent);
    }
  }

  private static FutureTask<Boolean> begun(Callable<Boolean> wait) {
    FutureTask<Boolean> task = new FutureTask<>(wait);
    Thread.ofVirtual().name("readiness").start(task);
    return task;
  }

  /** Returns the store without the tiers in front of it. */
  public CounterStore counters() {
    return store;
  }

  /** Sets whether calls to the store are counted in metrics; initially they are. */
  public void countCalls(boolean counted) {
    state.countCalls(counted);
    if (second != null) {
      second.state.countCalls(counted);
    }
  }

  /** Warns where a backend may lose what a rule of these policies relies on. */
  public void policiesLoaded(PolicyBook book) {
    state.policiesLoaded(book);
    if (second != null) {
      second.state.policiesLoaded(book);
    }
    if (limits != null) {
      limits.policiesLoaded(book);
    }
    if (regions != null) {
      regions.state.policiesLoaded(book);
    }
  }

  /**
   * Returns what supplies the coordinators of the concurrency limits that replicas share, until
   * this is closed; null where counters are in the memory of this process.
   */
  public @Nullable Function<Coordination, ConcurrencyCoordinator> coordinators() {
    ConcurrencyCoordinators shared = limits;
    return shared == null ? null : shared::of;
  }

  /**
   * Forwards releases that reach this process to the processes of their permits, through the store,
   * from the first call on; no effect if the store is this process's memory.
   */
  public synchronized void forwardReleases(RequestPermits permits) {
    if (releases == null) {
      Backend<ReleaseExchange> exchange = backends.releases(config, state.ofFurtherConnections());
      releases = exchange == null ? null : ForwardedReleases.of(exchange, permits);
    }
  }

  private synchronized @Nullable ForwardedReleases releases() {
    return releases;
  }

  /**
   * Returns the exchange in which the replicas of this store elect the one that steers, until this
   * is closed. Connects at the first call. With counters in the memory of this process, so is the
   * exchange.
   */
  public synchronized SteeringExchange steering() {
    Backend<SteeringExchange> known = steering;
    if (known == null) {
      known = backends.steering(config, state.ofFurtherConnections());
      steering = known;
    }
    return known.api();
  }

  private synchronized @Nullable Backend<SteeringExchange> connectedSteering() {
    return steering;
  }

  /** Returns the tiers that decide requests. */
  public Tiers tiers() {
    return tiers;
  }

  /** Returns a one-line description of the addresses and states, without passwords. */
  public String describe() {
    return state.describe()
        + (second == null ? "" : "; limits per second: " + second.state.describe())
        + (regions == null ? "" : "; " + regions.describe());
  }

  /** Returns leased units, waits until that is done or the deadlines pass, and disconnects. */
  @Override
  public void close() {
    long end = time.monotonicNanos() + closingNanos;
    ForwardedReleases forwarded = releases();
    if (forwarded != null) {
      forwarded.forwarder().close();
    }
    tiers.close();
    await(tiers.ended(), end);
    if (forwarded != null) {
      await(forwarded.forwarder().ended(), end);
      close(forwarded.exchange(), end);
    }
    Backend<SteeringExchange> steered = connectedSteering();
    if (steered != null) {
      close(steered, end);
    }
    if (regions != null) {
      regions.backends().forEach(backend -> close(backend, end));
    }
    if (limits != null) {
      limits.backends().forEach(backend -> close(backend, end));
    }
    closeCounters(end);
  }

  private void closeCounters(long endNanos) {
    if (second != null) {
      close(second.counters, endNanos);
    }
    close(counters, endNanos);
  }

  private void close(Backend<?> backend, long endNanos) {
    try {
      backend.api().close();
    } catch (Exception e) {
      LOG.warn("not closed: {}", e.toString());
    }
    await(backend.ended(), endNanos);
  }

  private void await(CompletionStage<?> ended, long endNanos) {
    try {
      // At least 1 ns, so that what has ended already is recognized after the deadline, too.
      long left = Math.max(1, endNanos - time.monotonicNanos());
      ended.toCompletableFuture().get(left, TimeUnit.NANOSECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      LOG.warn("some leased units may not have been returned: {}: {}", describe(), e.toString());
    }
  }
}
