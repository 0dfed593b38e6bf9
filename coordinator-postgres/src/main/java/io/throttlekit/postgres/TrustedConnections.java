package io.throttlekit.postgres;

import io.throttlekit.TimeSource;
import java.io.PrintWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.concurrent.atomic.AtomicLong;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Connections that are trusted as valid, without a query, for 24 s after their last use.
 *
 * <p>A pool validates a connection that was idle for half a second before it lends it, which takes
 * two round trips: as long as the work itself. A connection that was lost in between is detected by
 * the first statement, or by the pool, which validates idle connections at intervals. Thread-safe;
 * blocks.
 */
final class TrustedConnections implements DataSource {
  /** The pool's interval of validations, in ms; the shortest that it allows. */
  static final long KEEP_ALIVE_MILLIS = 30_000;

  /**
   * Below the interval by a fifth: the pool validates up to a fifth early, and then has to query
   * the server.
   */
  private static final long TRUST_NANOS = KEEP_ALIVE_MILLIS * 4 / 5 * 1_000_000;

  private final String url;
  private final Properties login;
  private final TimeSource time;
  private final boolean durable;

  /**
   * Creates a source of connections.
   *
   * @param login properties of the driver
   * @param durable whether commits wait for the disk
   */
  TrustedConnections(String url, Properties login, TimeSource time, boolean durable) {
    this.url = url;
    this.login = login;
    this.time = time;
    this.durable = durable;
  }

  @Override
  public Connection getConnection() throws SQLException {
    Connection connection = DriverManager.getConnection(url, login);
    Origin.Cell origin = origin(connection);
    AtomicLong asked = new AtomicLong(time.monotonicNanos());
    InvocationHandler trusting =
        (_, method, arguments) -> {
          if (method.getName().equals("origin")) {
            return origin;
          }
          boolean looks = method.getName().equals("isValid");
          if (looks && time.monotonicNanos() - asked.get() < TRUST_NANOS) {
            return !connection.isClosed();
          }
          // Work with the server proves the connection as well as a validation does.
          if (looks || method.getName().equals("prepareStatement")) {
            asked.set(time.monotonicNanos());
          }
          try {
            return method.invoke(connection, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause(); // reflection wraps it
          }
        };
    return (Connection)
        Proxy.newProxyInstance(
            Origin.Carrier.class.getClassLoader(),
            new Class<?>[] {Connection.class, Origin.Carrier.class},
            trusting);
  }

  private Origin.Cell origin(Connection connection) throws SQLException {
    try {
      return new Origin.Cell(connection, durable);
    } catch (SQLException e) {
      connection.close();
      throw e;
    }
  }

  @Override
  public Connection getConnection(String user, String password) throws SQLException {
    throw new SQLFeatureNotSupportedException("who logs in is a setting");
  }

  @Override
  public @Nullable PrintWriter getLogWriter() {
    return null;
  }

  @Override
  public void setLogWriter(@Nullable PrintWriter log) {}

  @Override
  public int getLoginTimeout() {
    return 0;
  }

  @Override
  public void setLoginTimeout(int seconds) {}

  @Override
  public Logger getParentLogger() throws SQLFeatureNotSupportedException {
    throw new SQLFeatureNotSupportedException("nothing is logged");
  }

  @Override
  public boolean isWrapperFor(Class<?> type) {
    return type.isInstance(this);
  }

  @Override
  public <T> T unwrap(Class<T> type) {
    return type.cast(this);
  }
}
