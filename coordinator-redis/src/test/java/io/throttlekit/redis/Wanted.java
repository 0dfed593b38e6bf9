package io.throttlekit.redis;

import io.throttlekit.store.CircuitBreaker;
import org.jspecify.annotations.Nullable;

/** The settings of a store for a test, with production defaults. Not thread-safe. */
final class Wanted {
  /** Three times the default: a handshake over TLS takes long on a slow machine. */
  static final long CONNECT_TIMEOUT_MILLIS = 3_000;

  static final long PROBE_MILLIS = 25;

  private final String url;
  private final boolean cluster;
  private RedisSettings.Access access = new RedisSettings.Access("", null, "", "");
  private long deadlineMillis = 1_000;
  private long leaseDeadlineMillis = 2_000;
  private int maxBatch = RedisSettings.DEFAULT_MAX_BATCH;
  private int maxInFlight = RedisSettings.DEFAULT_MAX_IN_FLIGHT;
  private CircuitBreaker.Settings breaker = new CircuitBreaker.Settings(5, 1_000, PROBE_MILLIS);

  private Wanted(String url, boolean cluster) {
    this.url = url;
    this.cluster = cluster;
  }

  /** Creates settings for a single Redis, or one behind Sentinels. */
  static Wanted redis(String url) {
    return new Wanted(url, false);
  }

  static Wanted cluster(String urls) {
    return new Wanted(urls, true);
  }

  Wanted deadlines(long acquireMillis, long leaseMillis) {
    deadlineMillis = acquireMillis;
    leaseDeadlineMillis = leaseMillis;
    return this;
  }

  Wanted batches(int batch, int inFlight) {
    maxBatch = batch;
    maxInFlight = inFlight;
    return this;
  }

  Wanted breaker(int failures, long silenceMillis, long probeMillis) {
    breaker = new CircuitBreaker.Settings(failures, silenceMillis, probeMillis);
    return this;
  }

  Wanted keyPrefix(String prefix) {
    access =
        new RedisSettings.Access(
            prefix, access.tls(), access.sentinelUser(), access.sentinelPassword());
    return this;
  }

  Wanted tls(RedisSettings.Access.@Nullable Tls tls) {
    access = new RedisSettings.Access("", tls, access.sentinelUser(), access.sentinelPassword());
    return this;
  }

  Wanted sentinelLogin(String user, String password) {
    access = new RedisSettings.Access("", access.tls(), user, password);
    return this;
  }

  RedisSettings settings() {
    return new RedisSettings(
        url,
        cluster,
        access,
        deadlineMillis,
        leaseDeadlineMillis,
        maxBatch,
        maxInFlight,
        breaker,
        CONNECT_TIMEOUT_MILLIS);
  }
}
