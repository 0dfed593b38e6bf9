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
 * Connections that are taken for valid, without asking the server, as long as it was asked anything
 * within the last 24 s.
 *
 * <p>A pool asks before it lends one that was idle for half a second, which takes two round trips:
 * as long as what the connection is wanted for. One that has broken meanwhile is found out by the
 * first statement, or by the pool, which asks now and then on those that nobody uses. Thread-safe;
 * blocks.
 */
final class TrustedConnections implements DataSource {
  /** How often the pool asks, in ms; as often as it can. */
  static final long KEEP_ALIVE_MILLIS = 30_000;

  /** It asks up to a fifth earlier, and then has to be answered by the server. */
  private static final long TRUST_NANOS = KEEP_ALIVE_MILLIS * 4 / 5 * 1_000_000;

  private final String url;
  private final Properties login;
  private final TimeSource time;
  private final boolean durable;

  /**
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
          if (looks || method.getName().equals("prepareStatement")) {
            asked.set(time.monotonicNanos());
          }
          try {
            return method.invoke(connection, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
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
