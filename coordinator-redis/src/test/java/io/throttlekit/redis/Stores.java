package io.throttlekit.redis;

import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreListener;
import java.util.concurrent.CompletionStage;

/** Stores for tests. */
final class Stores {
  private static final long LONG_MILLIS = 10_000;

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
    return connected(RedisCounterStore.connectWithClock(longDeadlines(url).settings(), clock));
  }

  /** Opens a connected coordinator that notifies {@code listener}. */
  static RedisGlobalCoordinator coordinator(Wanted wanted, StoreListener listener) {
    RedisGlobalCoordinator coordinator =
        RedisGlobalCoordinator.connect(wanted.settings(), TimeSource.system(), listener);
    awaitReady(coordinator.ready());
    return coordinator;
  }

  /** Opens a connected escrow that notifies {@code listener}. */
  static RedisRegionalEscrow escrow(Wanted wanted, StoreListener listener) {
    RedisRegionalEscrow escrow =
        RedisRegionalEscrow.connect(wanted.settings(), TimeSource.system(), listener);
    awaitReady(escrow.ready());
    return escrow;
  }

  /** Opens a connected coordinator whose windows follow {@code clock}. */
  static RedisGlobalCoordinator coordinator(Wanted wanted, TimeSource clock) {
    RedisGlobalCoordinator coordinator =
        RedisGlobalCoordinator.connectWithClock(wanted.settings(), StoreListener.NONE, clock);
    awaitReady(coordinator.ready());
    return coordinator;
  }

  /** Opens a connected escrow whose windows follow {@code clock}. */
  static RedisRegionalEscrow escrow(Wanted wanted, TimeSource clock) {
    RedisRegionalEscrow escrow =
        RedisRegionalEscrow.connectWithClock(wanted.settings(), StoreListener.NONE, clock);
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
