package io.throttlekit.postgres;

import io.throttlekit.store.Persistence;
import io.throttlekit.store.Persistence.Cause;
import io.throttlekit.store.Persistence.Gap;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * The server of a connection: its database cluster and its timeline. A promoted standby, or a
 * backup recovered to a point in time, begins a timeline; rows restored into another cluster have
 * another identifier.
 *
 * @param history {@code <system identifier> <timeline>}; empty if the role may not read it
 * @param synchronous whether a commit waits until a standby has written it to disk
 */
record Origin(String history, boolean synchronous) {
  static final Origin UNKNOWN = new Origin("", false);

  // "off" counts as waiting because durable sessions turn it on.
  private static final String SYNCHRONOUS =
      """
      current_setting('synchronous_standby_names') <> ''
        AND current_setting('synchronous_commit') IN ('on', 'off', 'remote_apply')\
      """;

  // The timeline of the last checkpoint (pg_control_checkpoint) is outdated for a while after a
  // promotion.
  private static final String QUERY =
      """
      SELECT (SELECT system_identifier FROM pg_control_system()) || ' '
          || CASE WHEN pg_is_in_recovery() THEN ''
            ELSE left(pg_walfile_name(pg_current_wal_lsn()), 8) END,
        \
      """
          + SYNCHRONOUS;

  private static final String SETTINGS =
      """
      SELECT current_setting('fsync'), current_setting('full_page_writes'),
        (SELECT count(*) FROM pg_stat_replication),
        \
      """
          + SYNCHRONOUS;

  /**
   * Reads the origin from the server; {@link #UNKNOWN} if the role may not read it. Blocks.
   *
   * @param durable whether commits on the connection wait for the disk
   */
  static Origin of(Connection connection, boolean durable) throws SQLException {
    try {
      return Session.query(
          connection, QUERY, row -> new Origin(row.getString(1), durable && row.getBoolean(2)));
    } catch (SQLException e) {
      if (Failures.isServerGone(e)) {
        throw e;
      }
      return UNKNOWN;
    }
  }

  /** Returns what the server may lose by its settings, and by what the role may read. Blocks. */
  Persistence persistence(Connection connection) throws SQLException {
    List<Gap> gaps = new ArrayList<>();
    if (!isKnown()) {
      gaps.add(
          new Gap(
              Cause.UNNOTICED,
              "the role may not call pg_control_system() and pg_walfile_name()",
              "grant EXECUTE on functions pg_control_system() and pg_walfile_name(pg_lsn)"));
    }
    return Session.query(
        connection,
        SETTINGS,
        row -> {
          if (!row.getString(1).equals("on") || !row.getString(2).equals("on")) {
            gaps.add(
                new Gap(
                    Cause.RESTART,
                    "fsync %s, full_page_writes %s".formatted(row.getString(1), row.getString(2)),
                    "set both on"));
          }
          // Only a primary with standbys can lose commits in a failover.
          if (row.getLong(3) > 0 && !row.getBoolean(4)) {
            gaps.add(
                new Gap(
                    Cause.FAILOVER,
                    "commits do not wait for any of " + row.getLong(3) + " standbys",
                    "set synchronous_standby_names, and synchronous_commit to on"));
          }
          return new Persistence(gaps);
        });
  }

  boolean isKnown() {
    return !history.isEmpty();
  }

  /** Returns whether another server may lack data that this one has acknowledged. */
  boolean mayHaveMoreThan(Origin other) {
    return isKnown()
        && !history.equals(other.history)
        && !(synchronous && cluster(history).equals(cluster(other.history)));
  }

  private static String cluster(String history) {
    return history.substring(0, Math.max(0, history.indexOf(' '))); // "" if unknown
  }
}
