package io.throttlekit.postgres;

import io.throttlekit.store.CircuitBreaker;
import io.throttlekit.testkit.postgres.PostgresProcess;

/** The settings of a PostgreSQL for a test, with production defaults. Not thread-safe. */
final class Wanted {
  /** The connect timeout of {@link #quickToConnect}. */
  static final long QUICK_MILLIS = 2_000;

  /** Longer than anything takes on a slow machine. */
  static final long LONG_MILLIS = 60_000;

  private final String url;
  private String user = PostgresProcess.SUPERUSER;
  private String schema = PostgresSettings.DEFAULT_SCHEMA;
  private Durability counters = Durability.SYNCHRONOUS;
  private int connections = 4;
  private long deadlineMillis = LONG_MILLIS;
  private long leaseDeadlineMillis = LONG_MILLIS;
  private CircuitBreaker.Settings breaker = new CircuitBreaker.Settings(1_000, 60_000, 10);
  private long connectTimeoutMillis = LONG_MILLIS;
  private long collectEveryMillis = 3_600_000;

  private Wanted(String url) {
    this.url = url;
  }

  /** Creates settings with deadlines for a busy machine. */
  static Wanted of(String url) {
    return new Wanted(url);
  }

  Wanted user(String role) {
    user = role;
    return this;
  }

  Wanted schema(String name) {
    schema = name;
    return this;
  }

  Wanted counters(Durability durability) {
    counters = durability;
    return this;
  }

  Wanted connections(int atMost) {
    connections = atMost;
    return this;
  }

  Wanted deadlines(long acquireMillis, long leaseMillis) {
    deadlineMillis = acquireMillis;
    leaseDeadlineMillis = leaseMillis;
    return this;
  }

  Wanted breaker(int failures, long silenceMillis, long probeMillis) {
    breaker = new CircuitBreaker.Settings(failures, silenceMillis, probeMillis);
    return this;
  }

  /** Sets a short connect timeout, for a server that is down: calls fail no sooner. */
  Wanted quickToConnect() {
    connectTimeoutMillis = QUICK_MILLIS;
    return this;
  }

  Wanted collectEvery(long millis) {
    collectEveryMillis = millis;
    return this;
  }

  PostgresSettings settings() {
    return new PostgresSettings(
        url,
        user,
        "",
        schema,
        counters,
        connections,
        deadlineMillis,
        leaseDeadlineMillis,
        breaker,
        connectTimeoutMillis,
        collectEveryMillis);
  }
}
