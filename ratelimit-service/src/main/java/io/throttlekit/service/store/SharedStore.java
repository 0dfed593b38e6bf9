package io.throttlekit.service.store;

import io.netty.channel.EventLoopGroup;
import io.opentelemetry.api.metrics.Meter;
import io.throttlekit.TimeSource;
import io.throttlekit.redis.RedisCounterStore;
import io.throttlekit.redis.RedisSettings;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreConfig;
import io.throttlekit.service.telemetry.StoreMetrics;
import io.throttlekit.service.telemetry.TierMetrics;
import io.throttlekit.tier.TierSettings;
import io.throttlekit.tier.Tiers;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The Redis that this process shares with others, and the tiers in front of it.
 *
 * <p>It may be made before there is a Redis. Thread-safe.
 */
public final class SharedStore implements AutoCloseable {
  private static final int MAX_BATCH = 64;
  private static final int ROUND_TRIPS_IN_FLIGHT = 2;

  private final RedisCounterStore redis;
  private final StoreState state;
  private final TierMetrics metrics;
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
    this.state = new StoreState(config.address().toString(), new StoreMetrics(meter), reachable);
    this.metrics = new TierMetrics(meter);
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
            metrics);
  }

  /** What requests are decided by. */
  public Tiers tiers() {
    return tiers;
  }

  /** Counts what the tiers do. */
  public TierMetrics metrics() {
    return metrics;
  }

  /** One line for people: where it is and whether it answers; no passwords. */
  public String inWords() {
    return state.inWords();
  }

  /** Gives back what is leased, and disconnects. */
  @Override
  public void close() {
    tiers.close();
    redis.close();
  }

  private static RedisSettings settings(StoreConfig config) {
    StoreConfig.Deadlines deadlines = config.deadlines();
    return new RedisSettings(
        RedisUrl.of(config.address(), config.access().login()),
        config.address() instanceof StoreAddress.Cluster,
        deadlines.call().toMillis(),
        deadlines.lease().toMillis(),
        MAX_BATCH,
        ROUND_TRIPS_IN_FLIGHT,
        config.breaker().failures(),
        config.breaker().probeAfter().toMillis(),
        deadlines.connect().toMillis());
  }
}
