package io.throttlekit.redis;

import io.throttlekit.TimeSource;
import io.throttlekit.share.Coordination;
import io.throttlekit.store.StoreListener;
import java.util.concurrent.CompletionStage;

/** Stores for tests. */
final class Stores {
  private static final long LONG_MILLIS = 60_000;

  private Stores() {}

  /** Returns settings for tests without deadlines, on a machine that may be busy. */
  static Wanted longDeadlines(String url) {
    return longDeadlines(Wanted.redis(url));
  }

  /** Returns the same settings for a Cluster. */
  static Wanted clusterWithLongDeadlines(String urls) {
    return longDeadlines(Wanted.cluster(urls));
  }

  private static Wanted longDeadlines(Wanted wanted) {
    return wanted.deadlines(LONG_MILLIS, LONG_MILLIS).breaker(1000, 60_000, 10);
  }

  /** Opens a connected store whose windows follow {@code clock}. */
  static RedisCounterStore open(String url, TimeSource clock) {
    return connected(withClock(longDeadlines(url).settings(), clock));
  }

  /** Opens a store without a listener. */
  static RedisCounterStore connect(RedisSettings settings) {
    return RedisCounterStore.connect(settings, TimeSource.system(), StoreListener.NONE, null);
  }

  /** Opens a store whose windows follow {@code clock}. */
  static RedisCounterStore withClock(RedisSettings settings, TimeSource clock) {
    return new RedisCounterStore(following(clock, settings, StoreListener.NONE));
  }

  /** Returns the setup of a store whose windows follow {@code clock}. */
  static ScriptExecutor.Setup following(
      TimeSource clock, RedisSettings settings, StoreListener listener) {
    return new ScriptExecutor.Setup(settings, TimeSource.system(), listener, null, clock);
  }

  /** Opens a connected coordinator that notifies {@code listener}. */
  static RedisGlobalCoordinator coordinator(Wanted wanted, StoreListener listener) {
    RedisGlobalCoordinator coordinator =
        RedisGlobalCoordinator.connect(wanted.settings(), TimeSource.system(), listener, null);
    awaitReady(coordinator.ready());
    return coordinator;
  }

  /** Opens a connected escrow that notifies {@code listener}. */
  static RedisRegionalEscrow escrow(Wanted wanted, StoreListener listener) {
    RedisRegionalEscrow escrow =
        RedisRegionalEscrow.connect(wanted.settings(), TimeSource.system(), listener, null);
    awaitReady(escrow.ready());
    return escrow;
  }

  /** Opens a connected coordinator whose windows follow {@code clock}. */
  static RedisGlobalCoordinator coordinator(Wanted wanted, TimeSource clock) {
    RedisGlobalCoordinator coordinator =
        new RedisGlobalCoordinator(following(clock, wanted.settings(), StoreListener.NONE));
    awaitReady(coordinator.ready());
    return coordinator;
  }

  /** Opens a connected coordinator whose leases follow {@code clock}. */
  static RedisConcurrencyCoordinator concurrency(
      Wanted wanted, Coordination terms, TimeSource clock) {
    RedisConcurrencyCoordinator coordinator =
        new RedisConcurrencyCoordinator(
            terms, following(clock, wanted.settings(), StoreListener.NONE));
    awaitReady(coordinator.ready());
    return coordinator;
  }

  /** Opens a connected exchange of releases, which expire by {@code clock}. */
  static RedisReleaseExchange releases(Wanted wanted, TimeSource clock) {
    RedisReleaseExchange exchange =
        new RedisReleaseExchange(following(clock, wanted.settings(), StoreListener.NONE));
    awaitReady(exchange.ready());
    return exchange;
  }

  /** Opens a connected store of records, which follow {@code clock}. */
  static RedisRecordStore records(Wanted wanted, TimeSource clock) {
    RedisRecordStore records =
        new RedisRecordStore(following(clock, wanted.settings(), StoreListener.NONE));
    awaitReady(records.ready());
    return records;
  }

  /** Opens a connected exchange of steering, whose leases follow {@code clock}. */
  static RedisSteeringExchange steering(Wanted wanted, TimeSource clock) {
    RedisSteeringExchange exchange =
        new RedisSteeringExchange(following(clock, wanted.settings(), StoreListener.NONE));
    awaitReady(exchange.ready());
    return exchange;
  }

  /** Opens a connected escrow whose windows follow {@code clock}. */
  static RedisRegionalEscrow escrow(Wanted wanted, TimeSource clock) {
    RedisRegionalEscrow escrow =
        new RedisRegionalEscrow(following(clock, wanted.settings(), StoreListener.NONE));
    awaitReady(escrow.ready());
    return escrow;
  }

  /** Returns the store when it is connected. */
  static RedisCounterStore connected(RedisCounterStore store) {
    awaitReady(store.ready());
    return store;
  }

  static void awaitReady(CompletionStage<?> ready) {
    StoreCalls.answer(ready);
  }
}
