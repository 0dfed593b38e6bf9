package io.throttlekit.postgres;

import io.throttlekit.store.StoreException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The tables, which are made and brought up to date before the first call, by whoever comes first.
 *
 * <p>Every step from one version to the next is a file of SQL. What is missing is done in one
 * transaction, under a lock of the database, so processes that start together wait for one of them.
 * A role that may not create anything needs a schema that is up to date. Thread-safe.
 */
final class Schema {
  private static final List<String> FILES =
      List.of(
          "001-counters.sql",
          "002-budgets.sql",
          "003-escrow.sql",
          "004-escrow-history.sql",
          "005-asked-terms.sql",
          "006-epoch-history.sql",
          "007-calls.sql");
  // Tables are looked for in the catalog itself: to_regclass still remembers, when the lock is had,
  // that there was none before it waited.
  private static final String HAS_SCHEMA = "SELECT FROM pg_namespace WHERE nspname = ?";
  private static final String HAS_VERSION =
      "SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
          + " WHERE n.nspname = ? AND c.relname = 'schema_version'";
  private static final String PERSISTENCE = "/* PERSISTENCE */";
  private static final String NO_PRIVILEGE = "42501";

  /** A step may write every row anew. */
  private static final int PATIENCE_MILLIS = 600_000;

  private final String name;
  private final List<Step> steps;
  private final boolean unlogged;
  private final ReentrantLock first = new ReentrantLock();
  private volatile boolean ready;

  /**
   * To the next version.
   *
   * @param sql statements, with {@code CREATE / * PERSISTENCE * / TABLE} where it is a setting
   */
  record Step(String name, String sql) {}

  /**
   * The schema of this release.
   *
   * @param unlogged whether tables of counters are made so that a crash empties them
   */
  Schema(String name, boolean unlogged) {
    this(name, FILES.stream().map(Schema::read).toList(), unlogged);
  }

  /** A schema of which the version is the number of steps. */
  Schema(String name, List<Step> steps, boolean unlogged) {
    this.name = name;
    this.steps = steps;
    this.unlogged = unlogged;
  }

  /**
   * Makes sure that the tables are those that are needed. Blocks; asks nothing once they were.
   *
   * @throws StoreException when they are newer, or may not be made
   */
  void ensure(Connection connection) throws SQLException {
    if (ready) {
      return;
    }
    first.lock();
    try {
      if (!ready) {
        if (version(connection) < steps.size()) {
          migrate(connection);
        }
        connection.rollback(); // of what was only read
        ready = true;
      }
    } catch (SQLException e) {
      if (NO_PRIVILEGE.equals(e.getSQLState())) {
        throw new StoreException(whatToGrant(connection, e), e);
      }
      throw e;
    } finally {
      first.unlock();
    }
  }

  /** The tables are not there any more, so they are looked for again. */
  void forget() {
    ready = false;
  }

  private void migrate(Connection connection) throws SQLException {
    int patience = connection.getNetworkTimeout();
    connection.setNetworkTimeout(Runnable::run, PATIENCE_MILLIS);
    try (Statement sql = connection.createStatement()) {
      sql.execute("SET LOCAL statement_timeout = " + PATIENCE_MILLIS);
      sql.execute("SELECT pg_advisory_xact_lock(" + Advisory.lock(name, Advisory.MIGRATION) + ")");
      int version = version(connection);
      if (version == 0) {
        if (!exists(connection, HAS_SCHEMA)) {
          sql.execute("CREATE SCHEMA " + name);
        }
        sql.execute(
            "CREATE TABLE schema_version (version integer PRIMARY KEY, step text NOT NULL,"
                + " at timestamptz NOT NULL DEFAULT clock_timestamp())");
      }
      for (int i = version; i < steps.size(); i++) {
        Step step = steps.get(i);
        sql.execute(step.sql().replace(PERSISTENCE, unlogged ? "UNLOGGED" : ""));
        try (PreparedStatement done =
            connection.prepareStatement("INSERT INTO schema_version VALUES (?, ?)")) {
          done.setInt(1, i + 1);
          done.setString(2, step.name());
          done.execute();
        }
      }
      connection.commit();
    } finally {
      connection.setNetworkTimeout(Runnable::run, patience);
    }
  }

  /** 0 when there are no tables yet. */
  private int version(Connection connection) throws SQLException {
    if (!exists(connection, HAS_VERSION)) {
      return 0;
    }
    try (Statement sql = connection.createStatement();
        ResultSet row = sql.executeQuery("SELECT max(version) FROM schema_version")) {
      row.next();
      int version = row.getInt(1);
      if (version > steps.size()) {
        throw new StoreException(
            "schema %s has version %d, and this release knows %d: run a newer release"
                .formatted(name, version, steps.size()),
            null);
      }
      return version;
    }
  }

  private boolean exists(Connection connection, String question) throws SQLException {
    try (PreparedStatement sql = connection.prepareStatement(question)) {
      sql.setString(1, name);
      try (ResultSet row = sql.executeQuery()) {
        return row.next();
      }
    }
  }

  private String whatToGrant(Connection connection, SQLException denied) throws SQLException {
    connection.rollback();
    try (Statement sql = connection.createStatement();
        ResultSet row = sql.executeQuery("SELECT current_user, current_database()")) {
      row.next();
      return ("role %1$s may not do what is needed in schema %2$s (%3$s): start the service once as"
              + " the schema's owner, then GRANT USAGE ON SCHEMA %2$s TO %1$s and GRANT SELECT,"
              + " INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %2$s TO %1$s; or let it make the"
              + " tables itself: GRANT CREATE ON DATABASE %4$s TO %1$s")
          .formatted(row.getString(1), name, denied.getMessage(), row.getString(2));
    }
  }

  private static Step read(String file) {
    try (InputStream sql = Objects.requireNonNull(Schema.class.getResourceAsStream(file), file)) {
      return new Step(file, new String(sql.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
