package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.await;

import io.throttlekit.testkit.postgres.PostgresProcess;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A primary and its standby, which is promoted when the primary was killed. */
final class ReplicatedPostgres implements AutoCloseable {
  private static final String STANDBYS = "SELECT count(*) FROM pg_stat_replication";

  private final PostgresProcess primary;
  private final PostgresProcess standby;

  private ReplicatedPostgres(PostgresProcess primary, PostgresProcess standby) {
    this.primary = primary;
    this.standby = standby;
  }

  /** Starts a standby of a server, which confirms each commit. */
  static ReplicatedPostgres synchronous(PostgresProcess primary) {
    return attached(primary, "synchronous_standby_names=*");
  }

  /** Starts a standby of a server, which may lag. */
  static ReplicatedPostgres asynchronous(PostgresProcess primary) {
    return attached(primary);
  }

  private static ReplicatedPostgres attached(PostgresProcess primary, String... options) {
    ReplicatedPostgres both = new ReplicatedPostgres(primary, primary.startStandby(options));
    await(
        "attached",
        () -> query(primary, "SELECT state FROM pg_stat_replication").equals("streaming"));
    return both;
  }

  PostgresProcess primary() {
    return primary;
  }

  PostgresProcess standby() {
    return standby;
  }

  /** Returns the JDBC URL of whichever is primary. */
  String url() {
    return "jdbc:postgresql://127.0.0.1:%d,127.0.0.1:%d/postgres?targetServerType=primary"
        .formatted(primary.port(), standby.port());
  }

  /** Cuts the standby off from the primary, once it has all of its data. */
  void cutOff() {
    await(
        "replicated",
        () ->
            query(standby, "SELECT pg_last_wal_replay_lsn()")
                .equals(query(primary, "SELECT pg_current_wal_flush_lsn()")));
    query(standby, "ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=1'");
    query(standby, "SELECT pg_reload_conf()");
    await("cut off", () -> query(primary, STANDBYS).equals("0"));
  }

  /** Kills the primary and promotes the standby. */
  void failOver() throws SQLException {
    primary.kill();
    standby.promote();
  }

  /** Executes a statement on a server. Returns the first value of its result; empty if none. */
  static String query(PostgresProcess server, String sql) {
    try (Connection connection = server.connect("postgres");
        Statement statement = connection.createStatement()) {
      if (!statement.execute(sql)) {
        return "";
      }
      try (ResultSet row = statement.getResultSet()) {
        return row.next() ? String.valueOf(row.getString(1)) : "";
      }
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  /** Ends the standby; the primary is of the caller. */
  @Override
  public void close() {
    standby.close();
  }
}
