package io.throttlekit.service.store;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.InMemoryCoordinator;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.postgres.Durability;
import io.throttlekit.postgres.PostgresCounterStore;
import io.throttlekit.postgres.PostgresGlobalCoordinator;
import io.throttlekit.postgres.PostgresRegionalEscrow;
import io.throttlekit.postgres.PostgresSettings;
import io.throttlekit.redis.RedisAccess;
import io.throttlekit.redis.RedisCounterStore;
import io.throttlekit.redis.RedisGlobalCoordinator;
import io.throttlekit.redis.RedisRegionalEscrow;
import io.throttlekit.redis.RedisSettings;
import io.throttlekit.service.config.FederationConfig;
import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreAddress.SslMode;
import io.throttlekit.service.config.StoreConfig;
import io.throttlekit.store.CircuitBreaker;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.StoreListener;
import io.throttlekit.tier.Timer;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects to the kind of backend that an address names.
 *
 * @param loops of the server, so that a request stays on its thread; not shut down here
 */
record Backends(TimeSource time, EventLoopGroup loops, Timer timer) {
  private static final Logger LOG = LoggerFactory.getLogger(Backends.class);

  /** Size of the connection pool. */
  private static final int POSTGRES_CONNECTIONS = 8;

  /** Interval between deletions of expired rows. */
  private static final long COLLECT_EVERY_MILLIS = 10_000;

  /** Minimum connect timeout that PostgreSQL's connection pool accepts. */
  private static final long MIN_CONNECT_MILLIS = 250;

  /** Maximum of requests in one round trip to Redis. */
  private static final int MAX_BATCH = 64;

  /** Round trips per connection in flight: one is executed while the next is sent. */
  private static final int ROUND_TRIPS_IN_FLIGHT = 2;

  /**
   * Returns the store of a region's counters.
   *
   * @throws IllegalArgumentException when the address is invalid; its message contains the address
   */
  Backend<CounterStore> counters(StoreConfig config, BackendState state) {
    return named(config.address(), () -> openCounters(config, state));
  }

  /** Returns the escrow of a region's leased units; null where the region is one process. */
  @Nullable Backend<RegionalEscrow> escrow(StoreConfig config, StoreListener listener) {
    return config.address().inMemory()
        ? null
        : named(config.address(), () -> openEscrow(config, listener));
  }

  /**
   * Returns the coordinator, from which all regions lease units of global limits.
   *
   * @throws IllegalArgumentException when the address is invalid; its message contains the address
   */
  Backend<GlobalCoordinator> coordinator(
      FederationConfig config, StoreConfig store, BackendState state) {
    return named(config.coordinator(), () -> openCoordinator(config, store, state));
  }

  private static <T> T named(StoreAddress address, Supplier<T> connecting) {
    try {
      return connecting.get();
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(address + ": " + e.getMessage(), e);
    }
  }

  private Backend<CounterStore> openCounters(StoreConfig config, BackendState state) {
    if (config.address().inMemory()) {
      return Backend.here(new InMemoryStore(time, config.maxCounters()));
    }
    if (config.address() instanceof StoreAddress.Postgres address) {
      warnOfPlainText(address);
      PostgresCounterStore postgres =
          PostgresCounterStore.connect(postgres(address, config), time, timer, state);
      return connected(postgres, postgres::ended);
    }
    RedisCounterStore redis = RedisCounterStore.connect(redis(config), time, state, loops);
    return new Backend<>(redis, redis::ready, redis::ended);
  }

  private Backend<RegionalEscrow> openEscrow(StoreConfig config, StoreListener listener) {
    if (config.address() instanceof StoreAddress.Postgres address) {
      PostgresRegionalEscrow postgres =
          PostgresRegionalEscrow.connect(postgres(address, config), time, timer, listener);
      return connected(postgres, postgres::ended);
    }
    RedisRegionalEscrow redis = RedisRegionalEscrow.connect(redis(config), time, listener, loops);
    return new Backend<>(redis, redis::ready, redis::ended);
  }

  private Backend<GlobalCoordinator> openCoordinator(
      FederationConfig config, StoreConfig store, BackendState state) {
    if (config.coordinator().inMemory()) {
      return Backend.here(new InMemoryCoordinator(time));
    }
    Duration deadline = config.deadline();
    if (config.coordinator() instanceof StoreAddress.Postgres address) {
      warnOfPlainText(address);
      PostgresGlobalCoordinator postgres =
          PostgresGlobalCoordinator.connect(
              postgres(address, config.access(), deadline, deadline, store), time, timer, state);
      return connected(postgres, postgres::ended);
    }
    RedisSettings settings =
        redis(config.coordinator(), config.access(), config.keyPrefix(), deadline, deadline, store);
    RedisGlobalCoordinator redis = RedisGlobalCoordinator.connect(settings, time, state, loops);
    return new Backend<>(redis, redis::ready, redis::ended);
  }

  /** Returns a backend that connects on its first call. */
  private static <T extends AutoCloseable> Backend<T> connected(
      T api, Supplier<CompletionStage<?>> ended) {
    return new Backend<>(api, () -> CompletableFuture.completedFuture(true), ended);
  }

  private static PostgresSettings postgres(StoreAddress.Postgres address, StoreConfig config) {
    StoreConfig.Deadlines deadlines = config.deadlines();
    return postgres(address, config.access(), deadlines.call(), deadlines.lease(), config);
  }

  /** Warns that with {@code sslmode=prefer} an attacker on the network can force plain text. */
  private static void warnOfPlainText(StoreAddress.Postgres address) {
    if (address.sslMode() == SslMode.PREFER) {
      LOG.warn(
          "{}: sslmode=prefer, the default, continues without TLS where the server, or an attacker"
              + " on the network, refuses TLS; set sslmode=verify-full, or sslmode=disable where"
              + " the network is trusted",
          address);
    }
  }

  private static PostgresSettings postgres(
      StoreAddress.Postgres address,
      StoreAccess access,
      Duration deadline,
      Duration leaseDeadline,
      StoreConfig config) {
    return new PostgresSettings(
        JdbcUrl.of(address, access),
        access.login().user(),
        access.login().password(),
        address.schema(),
        Durability.SYNCHRONOUS,
        POSTGRES_CONNECTIONS,
        deadline.toMillis(),
        leaseDeadline.toMillis(),
        breaker(config.breaker()),
        Math.max(MIN_CONNECT_MILLIS, config.deadlines().connect().toMillis()),
        COLLECT_EVERY_MILLIS);
  }

  private static RedisSettings redis(StoreConfig config) {
    return redis(
        config.address(),
        config.access(),
        config.keyPrefix(),
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
        breaker(config.breaker()),
        config.deadlines().connect().toMillis());
  }

  private static CircuitBreaker.Settings breaker(StoreConfig.Breaker breaker) {
    return new CircuitBreaker.Settings(
        breaker.failures(), breaker.after().toMillis(), breaker.probeAfter().toMillis());
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
