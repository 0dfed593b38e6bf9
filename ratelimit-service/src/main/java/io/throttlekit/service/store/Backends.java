package io.throttlekit.service.store;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.envoy.PemFiles;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.InMemoryCoordinator;
import io.throttlekit.federation.RegionalEscrow;
import io.throttlekit.postgres.Durability;
import io.throttlekit.postgres.PostgresConcurrencyCoordinator;
import io.throttlekit.postgres.PostgresCounterStore;
import io.throttlekit.postgres.PostgresGlobalCoordinator;
import io.throttlekit.postgres.PostgresRegionalEscrow;
import io.throttlekit.postgres.PostgresReleaseExchange;
import io.throttlekit.postgres.PostgresSettings;
import io.throttlekit.postgres.PostgresSteeringExchange;
import io.throttlekit.redis.RedisConcurrencyCoordinator;
import io.throttlekit.redis.RedisCounterStore;
import io.throttlekit.redis.RedisGlobalCoordinator;
import io.throttlekit.redis.RedisRegionalEscrow;
import io.throttlekit.redis.RedisReleaseExchange;
import io.throttlekit.redis.RedisSettings;
import io.throttlekit.redis.RedisSteeringExchange;
import io.throttlekit.service.config.FederationConfig;
import io.throttlekit.service.config.StoreAccess;
import io.throttlekit.service.config.StoreAccess.Login;
import io.throttlekit.service.config.StoreAddress;
import io.throttlekit.service.config.StoreAddress.SslMode;
import io.throttlekit.service.config.StoreConfig;
import io.throttlekit.share.ConcurrencyCoordinator;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.steering.InMemorySteeringExchange;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.store.CircuitBreaker;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.StoreListener;
import java.time.Duration;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Connects to the kind of backend that an address names.
 *
 * @param loops of the server, so that a request stays on its thread; not shut down here
 */
record Backends(TimeSource time, EventLoopGroup loops, Scheduler timer) {
  private static final Logger LOG = LoggerFactory.getLogger(Backends.class);

  /** Size of the connection pool, small because each connection is a process of the server. */
  static final int POSTGRES_CONNECTIONS = 8;

  /** Size of the pool for calls that no request waits for: some hundred transactions a second. */
  private static final int POSTGRES_BACKGROUND_CONNECTIONS = 2;

  /** Minimum connect timeout that PostgreSQL's connection pool accepts. */
  private static final long MIN_CONNECT_MILLIS = 250;

  /** The address of a backend, and the settings that differ between a store and a coordinator. */
  private record Target(
      StoreAddress address,
      StoreAccess access,
      String keyPrefix,
      Duration call,
      Duration lease,
      int postgresConnections) {

    static Target of(StoreConfig config) {
      StoreConfig.Deadlines deadlines = config.deadlines();
      return new Target(
          config.address(),
          config.access(),
          config.keyPrefix(),
          deadlines.call(),
          deadlines.lease(),
          POSTGRES_CONNECTIONS);
    }

    /** Returns the same target for calls that no request waits for. */
    Target inBackground() {
      return new Target(address, access, keyPrefix, call, lease, POSTGRES_BACKGROUND_CONNECTIONS);
    }

    static Target of(FederationConfig config) {
      return new Target(
          config.coordinator(),
          config.access(),
          config.keyPrefix(),
          config.deadline(),
          config.deadline(),
          POSTGRES_CONNECTIONS);
    }
  }

  /**
   * Returns the store of a region's counters.
   *
   * @throws IllegalArgumentException when the address is invalid; its message contains the address
   */
  Backend<CounterStore> counters(StoreConfig config, BackendState state) {
    if (config.address().inMemory()) {
      return new Backend<>(new InMemoryStore(time, config.maxCounters()));
    }
    warnOfPlainText(config.address());
    return connect(
        Target.of(config),
        config,
        settings -> PostgresCounterStore.connect(settings, time, timer, state),
        settings -> RedisCounterStore.connect(settings, time, state, loops));
  }

  /**
   * Returns the second Redis, for the counters of limits per second.
   *
   * @param config that of {@link StoreConfig#secondStore()}
   * @throws IllegalArgumentException when the address is invalid; its message contains the address
   */
  Backend<RedisCounterStore> perSecond(StoreConfig config, BackendState state) {
    return connect(
        Target.of(config),
        config,
        _ -> {
          throw new IllegalArgumentException("is no Redis");
        },
        settings -> RedisCounterStore.connect(settings, time, state, loops));
  }

  /** Returns the escrow of a region's leased units; null where the region is one process. */
  @Nullable Backend<RegionalEscrow> escrow(StoreConfig config, StoreListener listener) {
    if (config.address().inMemory()) {
      return null;
    }
    return connect(
        Target.of(config),
        config,
        settings -> PostgresRegionalEscrow.connect(settings, time, timer, listener),
        settings -> RedisRegionalEscrow.connect(settings, time, listener, loops));
  }

  /**
   * Returns the coordinator, from which all regions lease units of global limits.
   *
   * @throws IllegalArgumentException when the address is invalid; its message contains the address
   */
  Backend<GlobalCoordinator> coordinator(
      FederationConfig config, StoreConfig store, BackendState state) {
    if (config.coordinator().inMemory()) {
      return new Backend<>(new InMemoryCoordinator(time));
    }
    warnOfPlainText(config.coordinator());
    return connect(
        Target.of(config),
        store,
        settings -> PostgresGlobalCoordinator.connect(settings, time, timer, state),
        settings -> RedisGlobalCoordinator.connect(settings, time, state, loops));
  }

  /**
   * Returns a coordinator of concurrency limits at the store.
   *
   * @throws IllegalArgumentException when the address is invalid; its message contains the address
   */
  Backend<ConcurrencyCoordinator> concurrency(
      StoreConfig config, Coordination terms, StoreListener listener) {
    return connect(
        Target.of(config).inBackground(),
        config,
        settings -> PostgresConcurrencyCoordinator.connect(settings, terms, time, timer, listener),
        settings -> RedisConcurrencyCoordinator.connect(settings, terms, time, listener, loops));
  }

  /**
   * Returns the exchange of releases through the store; null where the region is one process.
   *
   * @throws IllegalArgumentException when the address is invalid; its message contains the address
   */
  @Nullable Backend<ReleaseExchange> releases(StoreConfig config, StoreListener listener) {
    if (config.address().inMemory()) {
      return null;
    }
    return connect(
        Target.of(config).inBackground(),
        config,
        settings -> PostgresReleaseExchange.connect(settings, time, timer, listener),
        settings -> RedisReleaseExchange.connect(settings, time, listener, loops));
  }

  /**
   * Returns the exchange in which replicas elect the one that steers; in memory for one process.
   *
   * @throws IllegalArgumentException when the address is invalid; its message contains the address
   */
  Backend<SteeringExchange> steering(StoreConfig config, StoreListener listener) {
    if (config.address().inMemory()) {
      return new Backend<>(new InMemorySteeringExchange(time));
    }
    return connect(
        Target.of(config).inBackground(),
        config,
        settings -> PostgresSteeringExchange.connect(settings, time, timer, listener),
        settings -> RedisSteeringExchange.connect(settings, time, listener, loops));
  }

  private static <T extends AutoCloseable> Backend<T> connect(
      Target target,
      StoreConfig config,
      Function<PostgresSettings, T> postgres,
      Function<RedisSettings, T> redis) {
    try {
      return new Backend<>(
          target.address() instanceof StoreAddress.Postgres address
              ? postgres.apply(postgres(address, target, config))
              : redis.apply(redis(target, config)));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(target.address() + ": " + e.getMessage(), e);
    }
  }

  /** Warns that with {@code sslmode=prefer} an attacker on the network can force plain text. */
  private static void warnOfPlainText(StoreAddress address) {
    if (address instanceof StoreAddress.Postgres postgres && postgres.sslMode() == SslMode.PREFER) {
      LOG.warn(
          "{}: sslmode=prefer, the default, continues without TLS where the server, or an attacker"
              + " on the network, refuses TLS; set sslmode=verify-full, or sslmode=disable where"
              + " the network is trusted",
          address);
    }
  }

  private static PostgresSettings postgres(
      StoreAddress.Postgres address, Target target, StoreConfig config) {
    return new PostgresSettings(
        JdbcUrl.of(address, target.access()),
        target.access().login().user(),
        target.access().login().password(),
        address.schema(),
        Durability.SYNCHRONOUS,
        target.postgresConnections(),
        target.call().toMillis(),
        target.lease().toMillis(),
        breaker(config.breaker()),
        Math.max(MIN_CONNECT_MILLIS, config.deadlines().connect().toMillis()),
        PostgresSettings.DEFAULT_COLLECT_EVERY_MILLIS);
  }

  private static RedisSettings redis(Target target, StoreConfig config) {
    StoreAccess access = target.access();
    Login sentinel = access.sentinelLogin();
    return new RedisSettings(
        RedisUrl.of(target.address(), access.login()),
        target.address() instanceof StoreAddress.Cluster,
        new RedisSettings.Access(
            target.keyPrefix(), tls(access.tls()), sentinel.user(), sentinel.password()),
        target.call().toMillis(),
        target.lease().toMillis(),
        RedisSettings.DEFAULT_MAX_BATCH,
        RedisSettings.DEFAULT_MAX_IN_FLIGHT,
        breaker(config.breaker()),
        config.deadlines().connect().toMillis());
  }

  private static CircuitBreaker.Settings breaker(StoreConfig.Breaker breaker) {
    return new CircuitBreaker.Settings(
        breaker.failures(), breaker.after().toMillis(), breaker.probeAfter().toMillis());
  }

  private static RedisSettings.Access.@Nullable Tls tls(StoreAccess.@Nullable StoreTls tls) {
    if (tls == null) {
      return null;
    }
    StoreAccess.ClientCertificate client = tls.client();
    return new RedisSettings.Access.Tls(
        tls.ca(),
        client == null ? null : () -> PemFiles.identity(client.certificate(), client.key()),
        tls.verifyHost());
  }
}
