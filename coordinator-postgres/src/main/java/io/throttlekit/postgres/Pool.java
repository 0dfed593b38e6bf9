package io.throttlekit.postgres;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.throttlekit.TimeSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.util.Properties;
import java.util.concurrent.TimeUnit;

/**
 * Connections to PostgreSQL, with their session settings.
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

  /** Uses the server's setting, except that commits always wait for the disk. */
  private static final String DURABLE =
      "SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
          + " WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)";

  /** The longest timeout: the driver multiplies seconds in an int. */
  private static final int DAY_SECONDS = 86_400;

  /** The shortest timeout that Hikari accepts. */
  private static final long MIN_HIKARI_MILLIS = 250;

  /** Between two times when all connections are replaced: each opens all of them. */
  private static final long RENEW_NANOS = TimeUnit.SECONDS.toNanos(1);

  private final HikariConfig config;
  private final TimeSource time;
  private volatile HikariDataSource connections;
  private volatile boolean serverGone;
  private boolean closed;

  /** When connections were last replaced or evicted. */
  private long renewedNanos;

  /**
   * Creates a pool without connections.
   *
   * @param durable whether commits wait for the disk
   */
  Pool(PostgresSettings settings, boolean durable, TimeSource time) {
    this.time = time;
    this.renewedNanos = time.monotonicNanos() - RENEW_NANOS;
    this.config = config(settings, durable);
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
    HikariDataSource known = connections;
    if (serverGone && isEmpty(known)) {
      Properties login = config.getDataSourceProperties();
      try (Connection _ = DriverManager.getConnection(config.getJdbcUrl(), login)) {
        renew(known);
      }
    }
    try {
      return connections.getConnection();
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
    connections.getHikariPoolMXBean().softEvictConnections();
    return true;
  }

  synchronized void close() {
    closed = true;
    connections.close();
  }

  private synchronized void renew(HikariDataSource known) {
    if (!closed && connections.equals(known) && isEmpty(known)) { // else another thread was first
      connections = open(config);
      serverGone = false;
      renewedNanos = time.monotonicNanos();
      var _ = Thread.startVirtualThread(known::close);
    }
  }

  private static boolean isEmpty(HikariDataSource pool) {
    return pool.getHikariPoolMXBean().getTotalConnections() == 0;
  }

  private static Properties login(PostgresSettings settings) {
    Properties login = new Properties();
    if (!settings.user().isEmpty()) {
      login.setProperty("user", settings.user());
    }
    if (!settings.password().isEmpty()) {
      login.setProperty("password", settings.password());
    }
    login.setProperty("currentSchema", settings.schema());
    login.setProperty("ApplicationName", "throttlekit");
    login.setProperty("tcpKeepAlive", "true");
    login.setProperty("hostRecheckSeconds", "0"); // a standby may have been promoted
    // Rounded up to seconds, the driver's unit.
    long connectSeconds =
        Math.clamp(
            TimeUnit.MILLISECONDS.toSeconds(settings.connectTimeoutMillis() + 999), 1, DAY_SECONDS);
    login.setProperty("connectTimeout", String.valueOf(connectSeconds));
    login.setProperty("loginTimeout", String.valueOf(connectSeconds));
    return login;
  }

  private static HikariConfig config(PostgresSettings settings, boolean durable) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(settings.url());
    config.setDataSourceProperties(login(settings));
    config.setPoolName("postgres-" + settings.schema());
    config.setMaximumPoolSize(settings.connections());
    config.setKeepaliveTime(KEEP_ALIVE_MILLIS);
    config.setAutoCommit(false);
    config.setIsolateInternalQueries(true); // else a rollback would undo the session settings
    // a statement sees all commits before its lock
    config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
    config.setConnectionTimeout(settings.connectTimeoutMillis());
    config.setValidationTimeout(Math.max(MIN_HIKARI_MILLIS, settings.connectTimeoutMillis() / 2));
    config.setInitializationFailTimeout(-1); // the server need not be reachable yet
    long deadline = settings.leaseDeadlineMillis();
    config.setConnectionInitSql(
        "SET statement_timeout = %1$d; SET idle_in_transaction_session_timeout = %1$d; %2$s"
            .formatted(deadline, durable ? DURABLE : "SET synchronous_commit = off"));
    return config;
  }
}
