package io.throttlekit.service.store;

import io.netty.channel.EventLoopGroup;
import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.redis.RedisAccess;
import io.throttlekit.redis.RedisCounterStore;
import io.throttlekit.redis.RedisSettings;
import io.throttlekit.service.config.Login;
import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreConfig;
import io.throttlekit.service.telemetry.StoreMetrics;
import io.throttlekit.service.telemetry.TierMetrics;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Tiers;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The Redis that this process shares with others, and the tiers in front of it.
 *
 * <p>It may be made before there is a Redis. Thread-safe.
 */
public final class SharedStore implements AutoCloseable {
  private static final Logger LOG = LoggerFactory.getLogger(SharedStore.class);
  private static final int MAX_BATCH = 64;
  private static final int ROUND_TRIPS_IN_FLIGHT = 2;

  private static final Duration LONGEST_GREETING = Duration.ofSeconds(2);
  private static final int FAST_ANSWERS = 100;
  private static final long PAUSE_MILLIS = 20;
  private static final FixedWindow NOTHING = new FixedWindow(1, 1);
  private static final CounterKey NOBODY = CounterKey.of("start");

  private final TimeSource time;
  private final long deadlineNanos;
  private final long leaseDeadlineNanos;
  private final RedisCounterStore redis;
  private final StoreState state;
  private final Tiers tiers;

  /**
   * Connects, in the background, on the threads of {@code loops}.
   *
   * @param loops of the server, so that a request stays on its thread; not ended here
   * @param reachable is told whether the store answers, when that changes
   * @throws IllegalArgumentException when the address is none that Redis can have
   */
  public SharedStore(
      StoreConfig config,
      EventLoopGroup loops,
      Meter meter,
      TimeSource time,
      Consumer<Boolean> reachable) {
    this.time = time;
    this.deadlineNanos = config.deadlines().call().toNanos();
    this.leaseDeadlineNanos = config.deadlines().lease().toNanos();
    this.state = new StoreState(config.address().toString(), new StoreMetrics(meter), reachable);
    this.redis = RedisCounterStore.connect(settings(config), time, state, loops);
    TierSettings tierSettings =
        new TierSettings(
            config.maxLeaseCells(), config.deadlines().decision().toNanos(), config.localShare());
    this.tiers =
        new Tiers(
            redis,
            time,
            (nanos, task) -> {
              var _ = loops.schedule(task, nanos, TimeUnit.NANOSECONDS);
            },
            tierSettings,
            new TierMetrics(meter));
    state.whenDataIsLost(tiers::forgetRefusals);
  }

  /**
   * Waits until the store answers as fast as requests will ask it to: a connection has to be made,
   * and a process that has just begun takes longer for its first calls than a request may wait. It
   * only looks, at a counter that nobody has.
   *
   * @return whether it does by now; if not, it may at any time later
   */
  public boolean awaitAnswers() throws InterruptedException {
    long end = time.monotonicNanos() + LONGEST_GREETING.toNanos();
    int fast = 0;
    while (fast < FAST_ANSWERS) {
      long asked = time.monotonicNanos();
      long left = end - asked;
      if (left <= 0) {
        return false;
      }
      try {
        redis
            .ready()
            .thenCompose(_ -> redis.peek(NOBODY, NOTHING))
            .toCompletableFuture()
            .get(left, TimeUnit.NANOSECONDS);
        boolean inTime = time.monotonicNanos() - asked < deadlineNanos / 2;
        fast += inTime ? 1 : 0;
      } catch (TimeoutException e) {
        return false;
      } catch (ExecutionException e) {
        fast = 0; // beyond the deadline, or not there, which is said at once
        if (endsWithin(PAUSE_MILLIS)) {
          return false;
        }
      }
    }
    return true;
  }

  private boolean endsWithin(long millis) throws InterruptedException {
    try {
      redis.ended().toCompletableFuture().get(millis, TimeUnit.MILLISECONDS);
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (ExecutionException impossible) { // it ends in one way only
      throw new IllegalStateException(impossible);
    }
  }

  /** What requests are decided by. */
  public Tiers tiers() {
    return tiers;
  }

  /** One line for people: where it is and whether it answers; no passwords. */
  public String inWords() {
    return state.inWords();
  }

  /** Gives back what is leased, waits until that is done or a lease's deadline, and disconnects. */
  @Override
  public void close() {
    tiers.close();
    redis.close();
    try {
      redis.ended().toCompletableFuture().get(leaseDeadlineNanos * 2, TimeUnit.NANOSECONDS);
    } catch (TimeoutException | ExecutionException e) {
      LOG.warn(
          "what was leased may not all be given back to {}: {}", state.inWords(), e.toString());
    } catch (InterruptedException _) {
      Thread.currentThread().interrupt();
    }
  }

  private static RedisSettings settings(StoreConfig config) {
    StoreConfig.Deadlines deadlines = config.deadlines();
    return new RedisSettings(
        RedisUrl.of(config.address(), config.access().login()),
        config.address() instanceof StoreAddress.Cluster,
        access(config),
        deadlines.call().toMillis(),
        deadlines.lease().toMillis(),
        MAX_BATCH,
        ROUND_TRIPS_IN_FLIGHT,
        config.breaker().failures(),
        config.breaker().probeAfter().toMillis(),
        deadlines.connect().toMillis());
  }

  private static RedisAccess access(StoreConfig config) {
    Login sentinel = config.access().sentinelLogin();
    return new RedisAccess(
        config.keyPrefix(), tls(config.access().tls()), sentinel.user(), sentinel.password());
  }

  private static RedisAccess.@Nullable Tls tls(StoreAccess.@Nullable StoreTls tls) {
    if (tls == null) {
      return null;
    }
    StoreAccess.ClientCertificate client = tls.client();
    return client == null
        ? new RedisAccess.Tls(tls.ca(), null, null, tls.verifyHost())
        : new RedisAccess.Tls(tls.ca(), client.certificate(), client.key(), tls.verifyHost());
  }
}
