package io.throttlekit.bench.chaos.fleet;

import io.throttlekit.testkit.postgres.PostgresProcess;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * Replaces the {@code clock_timestamp()} of a PostgreSQL, the clock that the service reads, by one
 * that can be stepped forward.
 */
final class SteppedPostgres {
  private SteppedPostgres() {}

  /**
   * Replaces the clock of a server. To be called before the first client connects, because plans
   * keep the function that they were made with.
   */
  static void prepare(PostgresProcess postgres) throws SQLException {
    execute(
        postgres,
        """
        CREATE TABLE pg_catalog.ahead (millis bigint NOT NULL);
        INSERT INTO pg_catalog.ahead VALUES (0);
        ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO host_clock_timestamp;
        CREATE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz LANGUAGE sql VOLATILE AS
          'SELECT pg_catalog.host_clock_timestamp()
             + pg_catalog.make_interval(secs => (SELECT millis FROM pg_catalog.ahead) / 1000.0)';
        """);
  }

  /** Sets the offset of a prepared server's clock to the host's. */
  static void ahead(PostgresProcess postgres, long millis) throws SQLException {
    execute(postgres, "UPDATE pg_catalog.ahead SET millis = " + millis);
  }

  private static void execute(PostgresProcess postgres, String sql) throws SQLException {
    try (Connection connection = postgres.connect("postgres");
        Statement statement = connection.createStatement()) {
      statement.execute("SET allow_system_table_mods = on; " + sql);
    }
  }
}
