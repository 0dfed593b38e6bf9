package io.throttlekit.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreListener;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Open connections to PostgreSQL.
 *
 * <p>Hikari pauses for up to 5 s between attempts to connect, longer the longer the server is down.
 * So when all connections are lost, each call tries to connect by itself, and the first that
 * succeeds replaces the pool. Thread-safe; blocks.
 */
final class Pool {
  /** Hikari's setting of the idle time after which it validates a connection before use. */
  private static final String MAX_UNVALIDATED_MILLIS = "com.zaxxer.hikari.aliveBypassWindowMs";

  /** The interval of validations in the background; the shortest that Hikari accepts. */
  private static final long KEEP_ALIVE_MILLIS = 30_000;

  /** The shortest timeout that Hikari accepts. */
  private static final long MIN_HIKARI_MILLIS = 250;

  /** Between two times when all connections are replaced: each opens all of them. */
  private static final long RENEW_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final Connector connector;
  private final HikariConfig config;
  private final TimeSource time;

  /** Null until the first pool is open, whose threads may connect before. */
  private volatile @Nullable HikariDataSource connections;

  private volatile boolean serverGone;
  private boolean closed;

  /** When connections were last replaced or evicted. */
  private long renewedNanos;

  /**
   * Creates a pool without connections.
   *
   * @param durable whether commits wait for the disk
   * @param listener notified of connections, and of reasons why there is none
   */
  Pool(PostgresSettings settings, boolean durable, TimeSource time, StoreListener listener) {
    this.time = time;
    this.renewedNanos = time.monotonicNanos() - RENEW_NANOS;
    this.connector = new Connector(settings, durable, listener, this::hasConnections);
    this.config = config(settings, connector);
    this.connections = open(config);
  }

  /**
   * Opens a pool that validates connections in the background only. A validation before use takes
   * as long as the work itself, and the first statement detects a lost connection, too. Hikari
   * reads this setting of the JVM once for each pool; other pools keep theirs, but one that other
   * code of the JVM opens in the same instant may read this value, too.
   */
  private static HikariDataSource open(HikariConfig config) {
    synchronized (Pool.class) {
      String others = System.setProperty(MAX_UNVALIDATED_MILLIS, String.valueOf(Long.MAX_VALUE));
      try {
        return new HikariDataSource(config);
      } finally {
        if (others == null) {
          System.clearProperty(MAX_UNVALIDATED_MILLIS);
        } else {
          System.setProperty(MAX_UNVALIDATED_MILLIS, others);
        }
      }
    }
  }

  /** Returns a connection that belongs to the caller until it is closed. */
  Connection connection() throws SQLException {
    HikariDataSource known = pool();
    if (serverGone && isEmpty(known)) {
      try (Connection _ = connector.getConnection()) {
        renew(known);
      }
    }
    try {
      return pool().getConnection();
    } catch (SQLTransientConnectionException e) {
      serverGone = true;
      throw e;
    }
  }

  /**
   * Evicts all connections after one was lost: they lead to the same server. Connections that are
   * new stay: the pool itself replaces those that are lost.
   *
   * @return whether they were evicted
   */
  synchronized boolean forget() {
    long now = time.monotonicNanos();
    if (now - renewedNanos < RENEW_NANOS) {
      return false;
    }
    renewedNanos = now;
    serverGone = true;
    pool().getHikariPoolMXBean().softEvictConnections();
    return true;
  }

  synchronized void close() {
    closed = true;
    pool().close();
  }

  private HikariDataSource pool() {
    return Objects.requireNonNull(connections, "opened by the constructor");
  }

  private boolean hasConnections() {
    HikariDataSource known = connections;
    return known != null && !isEmpty(known);
  }

  private synchronized void renew(HikariDataSource known) {
    if (!closed && known.equals(connections) && isEmpty(known)) { // else another thread was first
      connections = open(config);
      serverGone = false;
      renewedNanos = time.monotonicNanos();
      var _ = Thread.startVirtualThread(known::close);
    }
  }

  private static boolean isEmpty(HikariDataSource pool) {
    return pool.getHikariPoolMXBean().getTotalConnections() == 0;
  }

  private static HikariConfig config(PostgresSettings settings, Connector connector) {
    HikariConfig config = new HikariConfig();
    config.setDataSource(connector);
    config.setPoolName("postgres-" + settings.schema());
    config.setMaximumPoolSize(settings.connections());
    config.setKeepaliveTime(KEEP_ALIVE_MILLIS);
    config.setAutoCommit(false);
    config.setIsolateInternalQueries(true); // else a rollback would undo the session settings
    config.setConnectionTimeout(settings.connectTimeoutMillis());
    config.setValidationTimeout(Math.max(MIN_HIKARI_MILLIS, settings.connectTimeoutMillis() / 2));
    config.setInitializationFailTimeout(-1); // the server need not be reachable yet
    return config;
  }
}
