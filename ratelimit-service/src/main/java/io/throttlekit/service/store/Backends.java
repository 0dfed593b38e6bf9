package io.throttlekit.service.store;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.InMemoryCoordinator;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.redis.RedisAccess;
import io.throttlekit.redis.RedisCounterStore;
import io.throttlekit.redis.RedisGlobalCoordinator;
import io.throttlekit.redis.RedisListener;
import io.throttlekit.redis.RedisRegionalEscrow;
import io.throttlekit.redis.RedisSettings;
import io.throttlekit.service.config.FederationConfig;
import io.throttlekit.service.config.Login;
import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreConfig;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Connects to whatever an address names.
 *
 * @param loops of the server, so that a request stays on its thread; not ended here
 */
record Backends(TimeSource time, EventLoopGroup loops) {
  private static final int MAX_BATCH = 64;
  private static final int ROUND_TRIPS_IN_FLIGHT = 2;

  /** Where the counters of a region are. */
  Backend<CounterStore> counters(StoreConfig config, BackendState state) {
    if (config.address().inMemory()) {
      return Backend.here(new InMemoryStore(time, config.maxCounters()));
    }
    RedisCounterStore redis =
        RedisCounterStore.connect(redis(config, config.keyPrefix()), time, state, loops);
    return new Backend<>(redis, redis::ready, redis::ended);
  }

  /** Where a region keeps what it has leased; null where the region is one process. */
  @Nullable Backend<RegionalEscrow> escrow(StoreConfig config, String region) {
    if (config.address().inMemory()) {
      return null;
    }
    RedisSettings settings = redis(config, config.keyPrefix() + region + ':');
    RedisRegionalEscrow redis =
        RedisRegionalEscrow.connect(settings, time, RedisListener.NONE, loops);
    return new Backend<>(redis, redis::ready, redis::ended);
  }

  /** Where all regions lease what they share. */
  Backend<GlobalCoordinator> coordinator(
      FederationConfig config, StoreConfig store, BackendState state) {
    if (config.coordinator().inMemory()) {
      return Backend.here(new InMemoryCoordinator(time));
    }
    RedisSettings settings =
        redis(
            config.coordinator(),
            config.access(),
            config.keyPrefix(),
            config.deadline(),
            config.deadline(),
            store);
    RedisGlobalCoordinator redis = RedisGlobalCoordinator.connect(settings, time, state, loops);
    return new Backend<>(redis, redis::ready, redis::ended);
  }

  private static RedisSettings redis(StoreConfig config, String keyPrefix) {
    return redis(
        config.address(),
        config.access(),
        keyPrefix,
        config.deadlines().call(),
        config.deadlines().lease(),
        config);
  }

  private static RedisSettings redis(
      StoreAddress address,
      StoreAccess access,
      String keyPrefix,
      Duration deadline,
      Duration leaseDeadline,
      StoreConfig config) {
    Login sentinel = access.sentinelLogin();
    return new RedisSettings(
        RedisUrl.of(address, access.login()),
        address instanceof StoreAddress.Cluster,
        new RedisAccess(keyPrefix, tls(access.tls()), sentinel.user(), sentinel.password()),
        deadline.toMillis(),
        leaseDeadline.toMillis(),
        MAX_BATCH,
        ROUND_TRIPS_IN_FLIGHT,
        config.breaker().failures(),
        config.breaker().probeAfter().toMillis(),
        config.deadlines().connect().toMillis());
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
