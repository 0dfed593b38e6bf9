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
 * One transaction. It ends with a statement that commits, or counts for nothing.
 *
 * <p>What is read first, and what is written last with the commit, are several statements each that
 * travel together, so a transaction is two round trips.
 */
final class Session {
  /**
   * The server's clock in ms. In a statement of its own, after the one that locks: in the same, it
   * would be read before the lock is had.
   */
  static final String CLOCK = "floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint";

  /** Of "canceling wait for synchronous replication", whose text may be translated. */
  private static final String WARNING = "01000";

  private static final String SERVER_ENDS = "57P";

  private final Connection connection;
  private final @Nullable TimeSource testClock;
  private boolean mayBeCommitted;

  Session(Connection connection, @Nullable TimeSource testClock) {
    this.connection = connection;
    this.testClock = testClock;
  }

  /** The server that it is on. */
  Origin.Cell origin() throws SQLException {
    return connection.unwrap(Origin.Carrier.class).origin();
  }

  /** What the server's clock said, or what a test's says in its place. */
  long now(long serverMillis) {
    return testClock == null ? serverMillis : testClock.wallMillis();
  }

  /** Statements that commit nothing. */
  PreparedStatement prepare(String sql) throws SQLException {
    return connection.prepareStatement(sql);
  }

  /**
   * The last statements of the transaction, each with its {@code ;}, and then its commit; for
   * {@link #commit}.
   */
  PreparedStatement prepareLast(String sql) throws SQLException {
    mayBeCommitted = true;
    return connection.prepareStatement(sql + "COMMIT");
  }

  /**
   * Executes the last statements.
   *
   * @throws StoreException when the server gave up waiting for its standby: what it has committed
   *     may be lost with it, so it must not be taken for granted
   */
  static void commit(PreparedStatement last) throws SQLException {
    last.execute();
    for (SQLWarning warning = last.getWarnings();
        warning != null;
        warning = warning.getNextWarning()) {
      String state = String.valueOf(warning.getSQLState());
      if (state.equals(WARNING) || state.startsWith(SERVER_ENDS)) {
        throw new StoreException(
            "PostgreSQL committed without its standby; what was asked may be counted", warning);
      }
    }
  }

  /** Whether it came to its commit; until then nothing is committed. */
  boolean mayBeCommitted() {
    return mayBeCommitted;
  }

  Array names(List<byte[]> names) throws SQLException {
    return connection.createArrayOf("bytea", names.toArray(byte[][]::new));
  }

  Array numbers(List<Long> numbers) throws SQLException {
    return connection.createArrayOf("bigint", numbers.toArray());
  }

  /** Nothing of it is to be kept. */
  void rollBack() throws SQLException {
    connection.rollback();
  }

  /** The rows of the next of several statements that gives any. */
  static ResultSet rowsOf(PreparedStatement statements) throws SQLException {
    while (!statements.getMoreResults()) {
      if (statements.getUpdateCount() < 0) {
        throw new SQLException("a statement gave no rows");
      }
    }
    return statements.getResultSet();
  }
}
