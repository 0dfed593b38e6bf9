package io.throttlekit.postgres;

import java.io.PrintWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.util.Properties;
import java.util.logging.Logger;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Connections that are taken for valid, without asking the server, until they are closed.
 *
 * <p>A pool asks before it lends one that was idle for a while, which takes two round trips: as
 * long as what the connection is wanted for. One that has broken meanwhile is found out by the
 * first statement. Thread-safe; blocks.
 */
final class TrustedConnections implements DataSource {
  private final String url;
  private final Properties login;

  TrustedConnections(String url, Properties login) {
    this.url = url;
    this.login = login;
  }

  @Override
  public Connection getConnection() throws SQLException {
    Connection connection = DriverManager.getConnection(url, login);
    InvocationHandler trusting =
        (_, method, arguments) -> {
          if (method.getName().equals("isValid")) {
            return !connection.isClosed();
          }
          try {
            return method.invoke(connection, arguments);
          } catch (InvocationTargetException e) {
            throw e.getCause();
          }
        };
    return (Connection)
        Proxy.newProxyInstance(
            Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, trusting);
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
