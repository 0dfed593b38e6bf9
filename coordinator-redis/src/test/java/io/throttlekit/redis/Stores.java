package io.throttlekit.redis;

import io.throttlekit.TimeSource;
import java.util.concurrent.TimeUnit;

/** Stores for tests. */
final class Stores {
  private static final long PATIENT_MILLIS = 10_000;

  private Stores() {}

  /** Settings for tests that do not look at deadlines, on a machine that may be busy. */
  static Wanted patient(String url) {
    return Wanted.redis(url).deadlines(PATIENT_MILLIS, PATIENT_MILLIS).breaker(1000, 10);
  }

  /** A connected store whose windows follow {@code clock}. */
  static RedisCounterStore open(String url, TimeSource clock) {
    return connected(RedisCounterStore.connectWithClock(patient(url).settings(), clock));
  }

  /** The store, once it has a connection. */
  static RedisCounterStore connected(RedisCounterStore store) {
    store.ready().toCompletableFuture().orTimeout(PATIENT_MILLIS, TimeUnit.MILLISECONDS).join();
    return store;
  }
}
