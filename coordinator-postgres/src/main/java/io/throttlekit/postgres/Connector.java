package io.throttlekit.postgres;

import io.throttlekit.store.RootCause;
import io.throttlekit.store.StoreListener;
import java.io.PrintWriter;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGConnection;

/**
 * Opens connections to PostgreSQL, and sets up the session of each.
 *
 * <p>The settings are statements after the connection is open, not parameters of the startup
 * message: poolers refuse or drop those, and a statement overrides what is set for the role or the
 * database. A connection through a pooler must keep its session, which is verified for the first
 * one. Thread-safe; blocks.
 */
final class Connector implements DataSource {
  /** The longest timeout: the driver multiplies seconds in an int. */
  private static final int DAY_SECONDS = 86_400;

  private static final String REFUSED =
      "08004"; // sqlserver_rejected_establishment_of_sqlconnection

  /** A setting of no meaning to PostgreSQL, by which a session is recognized. */
  private static final String MARKER = "throttlekit.session";

  private static final String MARKED =
      "SELECT coalesce(current_setting('" + MARKER + "', true), '')";

  /** A pooler that others use may give a connection its session back by chance, but not often. */
  private static final int VERIFICATIONS = 5;

  /** Uses the server's setting, except that commits always wait for the disk. */
  private static final String DURABLE =
      "SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit')"
          + " WHEN 'off' THEN 'on' ELSE current_setting('synchronous_commit') END, false)";

  private static final String NO_SESSION =
      "a pooler, such as PgBouncer with pool_mode = transaction, gives the transactions of one"
          + " connection different sessions: set pool_mode = session for this database, or connect"
          + " to PostgreSQL itself";

  private static final String NOT_VERIFIED =
      "a pooler gives no second connection, by which it would show that it keeps sessions: set"
          + " pool_mode = session for this database, and a default_pool_size of one more than all"
          + " connections: ";

  private final String url;
  private final Properties login;
  private final String settings;
  private final int connectMillis;
  private final int connectSeconds;
  private final StoreListener listener;
  private final BooleanSupplier hasConnections;
  private final ReentrantLock verification = new ReentrantLock();
  private volatile boolean keepsSessions;

  /**
   * Creates an object that has opened no connection.
   *
   * @param durable whether commits wait for the disk
   * @param listener notified of connections, and of reasons why there is none
   * @param hasConnections whether another connection is open, so that the server can be reached
   */
  Connector(
      PostgresSettings settings,
      boolean durable,
      StoreListener listener,
      BooleanSupplier hasConnections) {
    this.url = settings.url();
    // Rounded up to seconds, the driver's unit.
    this.connectSeconds =
        Math.clamp(
            TimeUnit.MILLISECONDS.toSeconds(settings.connectTimeoutMillis() + 999), 1, DAY_SECONDS);
    this.login = login(settings, connectSeconds);
    this.settings =
        statements(settings.schema(), settings.leaseDeadlineMillis())
            + (durable ? DURABLE : "SET synchronous_commit = off");
    this.connectMillis =
        (int) Math.min(settings.connectTimeoutMillis(), TimeUnit.SECONDS.toMillis(DAY_SECONDS));
    this.listener = listener;
    this.hasConnections = hasConnections;
  }

  /**
   * Returns statements for all that a role or a database may set and that changes how transactions
   * end, or what statements mean. A warning reports a commit without its standby. Settings that the
   * server does not have, such as {@code transaction_timeout} before PostgreSQL 17, are left out. A
   * server that is configured as read-only stays so: writes to it are moved elsewhere. A pooler
   * without {@code server_reset_query} leaves statements that an earlier client prepared.
   */
  private static String statements(String schema, long leaseDeadlineMillis) {
    return """
    SET statement_timeout = %2$d;
    DEALLOCATE ALL;
    SET search_path = %1$s;
    SELECT set_config(name, wanted, false) FROM pg_settings JOIN (VALUES
        ('idle_in_transaction_session_timeout', '%2$d'),
        ('lock_timeout', '0'),
        ('transaction_timeout', '0'),
        ('idle_session_timeout', '0'),
        ('default_transaction_isolation', 'read committed'), -- sees all commits before a lock
        ('default_transaction_deferrable', 'off'),
        ('client_min_messages', 'warning'),
        ('standard_conforming_strings', 'on'),
        ('array_nulls', 'on'),
        ('bytea_output', 'hex'),
        ('DateStyle', 'ISO')) wishes (name, wanted) USING (name);
    SELECT set_config(name, 'off', false) FROM pg_settings
      WHERE name = 'default_transaction_read_only'
        AND source IN ('database', 'user', 'database user');
    """
        .formatted(schema, leaseDeadlineMillis);
  }

  private static Properties login(PostgresSettings settings, int connectSeconds) {
    Properties login = new Properties();
    if (!settings.user().isEmpty()) {
      login.setProperty("user", settings.user());
    }
    if (!settings.password().isEmpty()) {
      login.setProperty("password", settings.password());
    }
    login.setProperty("ApplicationName", "throttlekit");
    login.setProperty("tcpKeepAlive", "true");
    login.setProperty("hostRecheckSeconds", "0"); // a standby may have been promoted
    login.setProperty("connectTimeout", String.valueOf(connectSeconds));
    login.setProperty("loginTimeout", String.valueOf(connectSeconds));
    return login;
  }

  /**
   * Opens a connection.
   *
   * @throws SQLException if there is none, or its session is not its own
   */
  @Override
  public Connection getConnection() throws SQLException {
    try {
      Connection made = DriverManager.getConnection(url, login);
      try {
        prepare(made);
      } catch (SQLException e) {
        close(made);
        throw e;
      }
      listener.reachable();
      return made;
    } catch (SQLException e) {
      if (!hasConnections.getAsBoolean()) {
        listener.notConnected(RootCause.message(e));
      }
      throw e;
    }
  }

  private void prepare(Connection made) throws SQLException {
    int timeout = made.getNetworkTimeout();
    made.setNetworkTimeout(Runnable::run, connectMillis);
    if (!keepsSessions) {
      PGConnection driver = made.unwrap(PGConnection.class);
      int threshold = driver.getPrepareThreshold();
      prepareNothing(made);
      requireSessions(made);
      driver.setPrepareThreshold(threshold);
    }
    execute(made, settings);
    made.setNetworkTimeout(Runnable::run, timeout);
  }

  /**
   * Gives statements of this connection no names: the session may have others of the same names, of
   * an earlier client, until its settings are made.
   */
  private static void prepareNothing(Connection made) throws SQLException {
    made.unwrap(PGConnection.class).setPrepareThreshold(0);
  }

  /** Verifies one connection at a time: with others, the session may be its own by chance. */
  private void requireSessions(Connection made) throws SQLException {
    verification.lock();
    try {
      if (!keepsSessions) {
        requireSession(made);
        keepsSessions = true;
      }
    } finally {
      verification.unlock();
    }
  }

  /**
   * Fails if a pooler gives the transactions of a connection different sessions. Nothing but a
   * marker is set before, because that session serves other clients, too.
   */
  private void requireSession(Connection made) throws SQLException {
    int process = Session.query(made, "SELECT pg_backend_pid()", row -> row.getInt(1));
    if (process == made.unwrap(PGConnection.class).getBackendPID()) {
      return; // this is the server itself: a pooler reports a number of its own
    }
    try (Connection other = beside()) {
      for (int i = 0; i < VERIFICATIONS; i++) {
        requireSession(made, other);
      }
    }
  }

  private static void requireSession(Connection made, Connection other) throws SQLException {
    String marker = UUID.randomUUID().toString();
    execute(made, "SELECT set_config('%s', '%s', false)".formatted(MARKER, marker));
    // A pooler of transactions gives the session to the next transaction of any connection. While
    // that one is open, the session is not returned to this connection.
    if (marker.equals(marker(other)) || !marker.equals(marker(made))) {
      throw new SQLException(NO_SESSION, REFUSED);
    }
    other.rollback(); // else the pooler closes the session with the connection
  }

  /**
   * Returns another connection without autocommit. Without one nothing is verified: a pooler of
   * transactions gives a single connection the same session each time.
   */
  private Connection beside() throws SQLException {
    try {
      Connection other = DriverManager.getConnection(url, login);
      try {
        other.setNetworkTimeout(Runnable::run, connectMillis);
        prepareNothing(other);
        other.setAutoCommit(false);
        var _ = marker(other);
        other.rollback();
        return other;
      } catch (SQLException e) {
        close(other);
        throw e;
      }
    } catch (SQLException e) {
      throw new SQLException(NOT_VERIFIED + RootCause.message(e), REFUSED);
    }
  }

  private static String marker(Connection connection) throws SQLException {
    return Session.query(connection, MARKED, row -> row.getString(1));
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static void close(Connection connection) {
    try {
      connection.close();
    } catch (SQLException _) {
      // It is not used any more.
    }
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    throw new SQLFeatureNotSupportedException("the role is configured");
  }

  @Override
  public @Nullable PrintWriter getLogWriter() {
    return null;
  }

  @Override
  public void setLogWriter(@Nullable PrintWriter out) {}

  @Override
  public void setLoginTimeout(int seconds) {} // the timeout of the settings applies

  @Override
  public int getLoginTimeout() {
    return connectSeconds;
  }

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    throw new SQLFeatureNotSupportedException();
  }

  @Override
  public <T> T unwrap(Class<T> type) throws SQLException {
    throw new SQLException("wraps nothing");
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return false;
  }
}
