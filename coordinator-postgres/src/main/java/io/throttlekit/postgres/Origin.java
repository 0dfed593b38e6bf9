package io.throttlekit.postgres;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * The server of a connection: which database cluster it has, and on which timeline it writes. A
 * standby that is promoted, and a backup that is recovered to a point in time, begin a timeline;
 * rows that are restored into another cluster have another identifier.
 *
 * @param history {@code <system identifier> <timeline>}; empty where the role may not read it
 * @param synchronous whether a commit waits until a standby has it on its disk
 */
record Origin(String history, boolean synchronous) {
  static final Origin UNKNOWN = new Origin("", false);

  // The timeline of the last checkpoint (pg_control_checkpoint) is older for a while after a
  // promotion. A session that is not to wait for the disk is set to (Commits.DURABLE).
  private static final String QUERY =
      """
      SELECT (SELECT system_identifier FROM pg_control_system()) || ' '
          || CASE WHEN pg_is_in_recovery() THEN ''
            ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END,
        current_setting('synchronous_standby_names') <> ''
          AND current_setting('synchronous_commit') IN ('on', 'off', 'remote_apply')\
      """;

  /** The origin of one connection, as it was found when that was made or last asked for. */
  static final class Cell {
    private final Connection connection;
    private final boolean durable;
    private volatile Origin origin;
    private volatile boolean used;

    /**
     * Asks the server. Blocks.
     *
     * @param durable whether commits over the connection wait for the disk
     */
    Cell(Connection connection, boolean durable) throws SQLException {
      this.connection = connection;
      this.durable = durable;
      this.origin = Origin.of(connection, durable);
    }

    Origin get() {
      return origin;
    }

    /** Asks the server again, where it has shown its origin before. Blocks. */
    Origin readAgain() throws SQLException {
      if (origin.isKnown()) {
        origin = Origin.of(connection, durable);
      }
      return origin;
    }

    /** Whether this is the first call; of one thread at a time. */
    boolean isFirstUse() {
      boolean first = !used;
      used = true;
      return first;
    }
  }

  /** A connection that has a cell. */
  interface Carrier {
    Cell origin();
  }

  private static Origin of(Connection connection, boolean durable) throws SQLException {
    try (Statement sql = connection.createStatement();
        ResultSet row = sql.executeQuery(QUERY)) {
      row.next();
      return new Origin(row.getString(1), durable && row.getBoolean(2));
    } catch (SQLException e) {
      if (Failures.isServerGone(e)) {
        throw e;
      }
      return UNKNOWN;
    }
  }

  boolean isKnown() {
    return !history.isEmpty();
  }

  /** Whether another server may lack what this one has acknowledged. */
  boolean mayHaveMoreThan(Origin other) {
    return isKnown()
        && !history.equals(other.history)
        && !(synchronous && cluster(history).equals(cluster(other.history)));
  }

  private static String cluster(String history) {
    return history.substring(0, Math.max(0, history.indexOf(' ')));
  }
}
