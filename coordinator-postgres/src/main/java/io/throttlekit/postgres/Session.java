package io.throttlekit.postgres;

import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreException;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLWarning;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One transaction. It ends with a statement that commits, or has no effect.
 *
 * <p>The first reads are several statements in one round trip, and so are the last writes with the
 * commit; so a transaction takes two round trips.
 */
final class Session {
  /**
   * A function that uses a database.
   *
   * @param <A> its argument
   * @param <T> its result
   */
  @FunctionalInterface
  interface SqlFunction<A, T extends @Nullable Object> {
    T apply(A argument) throws SQLException;
  }

  /**
   * The server's clock in ms. Read in a statement of its own after the one that locks: in the same
   * statement it would be read before the lock was acquired.
   */
  static final String CLOCK = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

  /** The state of "canceling wait for synchronous replication", whose text may be translated. */
  private static final String WARNING = "01000";

  private static final String SERVER_ENDS = "57P"; // admin_shutdown and its relatives

  /** The connection to the server. */
  final Connection connection;

  private final @Nullable TimeSource testClock;
  private boolean mayBeCommitted;

  Session(Connection connection, @Nullable TimeSource testClock) {
    this.connection = connection;
    this.testClock = testClock;
  }

  /** Returns the server's clock, or a test's clock in its place. */
  long now(long serverMillis) {
    return testClock == null ? serverMillis : testClock.wallMillis();
  }

  /** Returns an SQL expression of the server's clock, or of a test's clock in its place. */
  String clock() {
    return testClock == null ? CLOCK : Long.toString(testClock.wallMillis());
  }

  /** Prepares statements that do not commit, with the values of their parameters. */
  PreparedStatement prepare(String sql, @Nullable Object... values) throws SQLException {
    return prepare(connection, sql, values);
  }

  /** Prepares statements with the values of their parameters. */
  static PreparedStatement prepare(Connection connection, String sql, @Nullable Object... values)
      throws SQLException {
    PreparedStatement statement = connection.prepareStatement(sql);
    for (int i = 0; i < values.length; i++) {
      statement.setObject(i + 1, values[i]);
    }
    return statement;
  }

  /**
   * Prepares the last statements of the transaction, each with its {@code ;}, followed by its
   * commit, with the values of their parameters.
   */
  PreparedStatement prepareLast(String sql, @Nullable Object... values) throws SQLException {
    mayBeCommitted = true;
    return prepare(sql + "COMMIT", values);
  }

  /**
   * Executes the last statements of the transaction, each with its {@code ;}, and its commit.
   *
   * @throws StoreException if the server gave up waiting for its standby: the commit may be lost
   *     with the server, so it must not be acknowledged
   */
  void commit(String sql, @Nullable Object... values) throws SQLException {
    try (PreparedStatement last = prepareLast(sql, values)) {
      executeLast(last);
    }
  }

  /**
   * Executes the last statements of the transaction, whose results can then be read.
   *
   * @throws StoreException if the server gave up waiting for its standby, as in {@link #commit}
   */
  static void executeLast(PreparedStatement last) throws SQLException {
    last.execute();
    for (SQLWarning warning = last.getWarnings();
        warning != null;
        warning = warning.getNextWarning()) {
      String state = String.valueOf(warning.getSQLState());
      if (state.equals(WARNING) || state.startsWith(SERVER_ENDS)) {
        throw new StoreException(
            "PostgreSQL committed without its standby; the request may have been counted", warning);
      }
    }
  }

  /** Returns whether the commit was prepared; before that, nothing is committed. */
  boolean mayBeCommitted() {
    return mayBeCommitted;
  }

  /** Returns the server's clock, or a test's clock in its place. */
  long readClock() throws SQLException {
    return query(connection, "SELECT " + CLOCK, row -> now(row.getLong(1)));
  }

  Array names(List<byte[]> names) throws SQLException {
    return connection.createArrayOf("bytea", names.toArray(byte[][]::new));
  }

  Array texts(List<String> texts) throws SQLException {
    return connection.createArrayOf("text", texts.toArray());
  }

  Array flags(List<Boolean> flags) throws SQLException {
    return connection.createArrayOf("boolean", flags.toArray());
  }

  Array numbers(List<Long> numbers) throws SQLException {
    return connection.createArrayOf("bigint", numbers.toArray());
  }

  /** Rolls the transaction back. */
  void rollBack() throws SQLException {
    connection.rollback();
  }

  /** Executes a query of one row. */
  static <T extends @Nullable Object> T query(
      Connection connection, String sql, SqlFunction<ResultSet, T> reader) throws SQLException {
    try (PreparedStatement query = connection.prepareStatement(sql);
        ResultSet row = query.executeQuery()) {
      row.next();
      return reader.apply(row);
    }
  }

  /** Reads the row of the next statement with a result. */
  static <T extends @Nullable Object> T rowOf(
      PreparedStatement statements, SqlFunction<ResultSet, T> reader) throws SQLException {
    try (ResultSet row = rowsOf(statements)) {
      row.next();
      return reader.apply(row);
    }
  }

  /** Returns the rows of the next statement with a result. */
  static ResultSet rowsOf(PreparedStatement statements) throws SQLException {
    while (!statements.getMoreResults()) {
      if (statements.getUpdateCount() < 0) {
        throw new SQLException("a statement gave no rows");
      }
    }
    return statements.getResultSet();
  }
}
