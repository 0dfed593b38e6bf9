package io.throttlekit.service.store;

import io.netty.channel.EventLoopGroup;
import io.opentelemetry.api.metrics.Meter;
import io.opentelemetry.api.trace.Tracer;
import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.PolicyBook;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.service.config.FederationConfig;
import io.throttlekit.service.config.StoreConfig;
import io.throttlekit.service.store.BackendState.Role;
import io.throttlekit.service.telemetry.StoreMetrics;
import io.throttlekit.service.telemetry.TierMetrics;
import io.throttlekit.store.CounterStore;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Tiers;
import io.throttlekit.tier.Timer;
import java.time.Duration;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What this process shares with others, the store of its region and the coordinator of all, and the
 * tiers in front of them.
 *
 * <p>It may be made before there is any of them. Thread-safe.
 */
public final class SharedStore implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SharedStore.class);

  private static final Duration LONGEST_GREETING = Duration.ofSeconds(2);

  /** A process that has just begun takes longer for its first calls. */
  private static final int FAST_ANSWERS = 10;

  /** A lease that is being asked for is given back once it has been answered. */
  private static final int CALLS_TO_GIVE_BACK = 2;

  private static final FixedWindow NOTHING = new FixedWindow(1, 1);
  private static final CounterKey NOBODY = CounterKey.of("start");

  private final TimeSource time;
  private final Timer timer;
  private final long deadlineNanos;
  private final long closingNanos;
  private final Backend<CounterStore> counters;
  private final BackendState state;
  private final @Nullable Regions regions;
  private final Tiers tiers;

  /**
   * Connects, in the background, on the threads of {@code loops}.
   *
   * @param federation how limits are shared with other regions; absent when they are not
   * @param loops of the server, so that a request stays on its thread; not ended here
   * @param reachable is told whether the store answers, when that changes
   * @throws IllegalArgumentException when an address is none that a backend can have
   */
  public SharedStore(
      StoreConfig config,
      @Nullable FederationConfig federation,
      EventLoopGroup loops,
      Meter meter,
      Tracer tracer,
      TimeSource time,
      Consumer<Boolean> reachable) {
    this.time = time;
    this.deadlineNanos = config.deadlines().call().toNanos();
    Duration far = federation == null ? Duration.ZERO : federation.deadline();
    Duration near = config.deadlines().call().plus(config.deadlines().lease());
    this.closingNanos = near.plus(far).toNanos() * CALLS_TO_GIVE_BACK;
    this.state =
        config.address().inMemory()
            ? BackendState.here(Role.STORE, time)
            : new BackendState(
                Role.STORE,
                config.address().toString(),
                StoreMetrics.ofStore(meter),
                reachable,
                time);
    this.timer =
        (nanos, task) -> {
          var _ = loops.schedule(task, nanos, TimeUnit.NANOSECONDS);
        };
    Backends backends = new Backends(time, loops, timer);
    this.counters = backends.counters(config, state);
    try {
      this.regions =
          federation == null
              ? null
              : Regions.connect(backends, federation, config, state, meter, tracer);
    } catch (IllegalArgumentException e) {
      close(counters, time.monotonicNanos() + closingNanos);
      throw e;
    }
    TierSettings tierSettings =
        new TierSettings(
            config.maxLeaseCells(), config.deadlines().call().toNanos(), config.localShare());
    TierMetrics tierMetrics = new TierMetrics(meter);
    this.tiers =
        regions == null
            ? new Tiers(counters.api(), time, timer, tierSettings, tierMetrics)
            : new Tiers(counters.api(), regions.leases(), time, timer, tierSettings, tierMetrics);
    state.whenDataIsLost(tiers::forgetRefusals);
    if (regions != null) {
      regions.whenDataIsLost(tiers::forgetRefusals);
    }
  }

  /**
   * Which of the backends answered.
   *
   * @param store that of the region
   * @param coordinator of all regions; true where there is none
   */
  public record Answering(boolean store, boolean coordinator) {
    /** Whether both did. */
    public boolean all() {
      return store && coordinator;
    }
  }

  /**
   * Waits, for 2 s at most, until the store answers as fast as requests need it, and the
   * coordinator answers: connections have to be made, and a process that has just begun takes
   * longer for its first calls than a request may wait. Neither waits for the other, and neither is
   * written to. A store that has answered only slowly by then has answered.
   *
   * @return which have; the others may at any time later
   */
  public Answering awaitAnswers() throws InterruptedException {
    Greeting greeting = new Greeting(time, time.monotonicNanos() + LONGEST_GREETING.toNanos());
    Regions far = regions;
    FutureTask<Boolean> coordinator =
        new FutureTask<>(() -> far == null || far.awaitAnswers(greeting));
    Thread.ofVirtual().name("coordinator-greeting").start(coordinator);
    try {
      boolean near = greeting.await(counters, this::look, 1, Long.MAX_VALUE);
      if (near) {
        var _ = greeting.await(counters, this::look, FAST_ANSWERS, deadlineNanos / 2);
      }
      return new Answering(near, coordinator.get());
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } finally {
      coordinator.cancel(true); // of no effect where it is done
    }
  }

  private CompletionStage<?> look() {
    return counters.ready().get().thenCompose(_ -> counters.api().peek(NOBODY, NOTHING));
  }

  /** The store itself, without the tiers in front of it. */
  public CounterStore counters() {
    return counters.api();
  }

  /** Sets whether calls to the store are counted in metrics: at first they are. */
  public void countCalls(boolean counted) {
    state.countCalls(counted);
  }

  /** Warns where a backend may lose what a rule of these policies relies on. */
  public void policiesLoaded(PolicyBook book) {
    state.policiesLoaded(book);
    if (regions != null) {
      regions.policiesLoaded(book);
    }
  }

  /** What requests are decided by. */
  public Tiers tiers() {
    return tiers;
  }

  /** One line for people: where it is and whether it answers; no passwords. */
  public String inWords() {
    return state.inWords() + (regions == null ? "" : "; " + regions.inWords());
  }

  /** Gives back what is leased, waits until that is done or the deadlines pass, and disconnects. */
  @Override
  public void close() {
    long end = time.monotonicNanos() + closingNanos;
    tiers.close();
    await(tiers.ended(), end);
    if (regions != null) {
      regions.backends().forEach(backend -> close(backend, end));
    }
    close(counters, end);
  }

  private void close(Backend<?> backend, long endNanos) {
    try {
      backend.api().close();
    } catch (Exception e) {
      LOG.warn("not closed: {}", e.toString());
    }
    await(backend.ended().get(), endNanos);
  }

  private void await(CompletionStage<?> ended, long endNanos) {
    try {
      long left = Math.max(1, endNanos - time.monotonicNanos());
      ended.toCompletableFuture().get(left, TimeUnit.NANOSECONDS);
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    } catch (ExecutionException | TimeoutException e) {
      LOG.warn("what was leased may not all be given back: {}: {}", inWords(), e.toString());
    }
  }
}
