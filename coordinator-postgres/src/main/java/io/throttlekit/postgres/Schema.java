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
 * The tables, created and migrated before the first call, by the first process that needs them.
 *
 * <p>Each step from one version to the next is an SQL file. Missing steps run in one transaction,
 * under a lock of the database, so that processes that start together wait for one of them. A role
 * without the privilege to create tables needs a schema that is up to date. Thread-safe.
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
          "007-calls.sql",
          "008-fleets.sql",
          "009-releases.sql",
          "010-steering.sql",
          "011-remnants.sql",
          "012-frequent-heartbeats.sql",
          "013-tenants.sql",
          "014-records.sql");
  // Tables are looked up in the catalog itself: to_regclass still reports, after the wait for the
  // lock, that there was no table before.
  private static final String HAS_SCHEMA = "SELECT FROM pg_namespace WHERE nspname = ?";
  private static final String HAS_VERSION =
      "SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace"
          + " WHERE n.nspname = ? AND c.relname = 'schema_version'";
  private static final String PERSISTENCE = "/* PERSISTENCE */";
  private static final String NO_PRIVILEGE = "42501"; // insufficient_privilege

  /** The timeout of a migration: a step may rewrite every row. */
  private static final int MIGRATION_TIMEOUT_MILLIS = 600_000;

  /** The advisory lock that is held while the tables are created or migrated. */
  private static final int MIGRATION_LOCK = 1;

  /** The advisory lock that is held while an epoch begins. */
  static final int EPOCH_LOCK = 2;

  // "tk" in ASCII, apart from other applications' locks
  private static final long LOCKS = 0x746B << 16;

  private final String name;
  private final List<Step> steps;
  private final boolean unlogged;
  private final ReentrantLock first = new ReentrantLock();
  private volatile boolean ready;

  /**
   * A step to the next version.
   *
   * @param sql statements, with {@code CREATE / * PERSISTENCE * / TABLE} where durability is a
   *     setting
   */
  record Step(String name, String sql) {}

  /**
   * Creates the schema of this release.
   *
   * @param unlogged whether tables of counters are unlogged, so that a crash empties them
   */
  Schema(String name, boolean unlogged) {
    this(name, FILES.stream().map(Schema::read).toList(), unlogged);
  }

  /** Creates a schema whose version is the number of steps. */
  Schema(String name, List<Step> steps, boolean unlogged) {
    this.name = name;
    this.steps = steps;
    this.unlogged = unlogged;
  }

  /** Returns the key of an advisory lock, a different one for each schema of a database. */
  static long lockKey(String schema, int lock) {
    return (LOCKS | lock) << Integer.SIZE | Integer.toUnsignedLong(schema.hashCode());
  }

  /**
   * Makes sure that the tables have this release's version. Blocks; without a query once they had.
   *
   * @throws StoreException if they are newer, or the role may not create them
   */
  void ensure(Connection connection) throws SQLException {
    if (ready) {
      return;
    }
    first.lock();
    try {
      if (!ready) {
        int version = version(connection);
        if (version > 0) {
          requireSchema(connection);
        }
        if (version < steps.size()) {
          migrate(connection);
        }
        connection.rollback(); // ends the transaction of the queries
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

  /** Has the tables checked again, because one is missing. */
  void forget() {
    ready = false;
  }

  private void migrate(Connection connection) throws SQLException {
    int timeout = connection.getNetworkTimeout();
    connection.setNetworkTimeout(Runnable::run, MIGRATION_TIMEOUT_MILLIS);
    try (Statement sql = connection.createStatement()) {
      sql.execute("SET LOCAL statement_timeout = " + MIGRATION_TIMEOUT_MILLIS);
      sql.execute("SELECT pg_advisory_xact_lock(" + lockKey(name, MIGRATION_LOCK) + ")");
      // Read again under the lock: another process may have migrated meanwhile.
      int version = version(connection);
      if (version == 0) {
        if (!exists(connection, HAS_SCHEMA)) {
          sql.execute("CREATE SCHEMA " + name);
        }
        requireSchema(connection);
        sql.execute(
            "CREATE TABLE schema_version (version integer PRIMARY KEY, step text NOT NULL,"
                + " at timestamptz NOT NULL DEFAULT clock_timestamp())");
      }
      for (int i = version; i < steps.size(); i++) {
        Step step = steps.get(i);
        sql.execute(step.sql().replace(PERSISTENCE, unlogged ? "UNLOGGED" : ""));
        String insert = "INSERT INTO schema_version VALUES (?, ?)";
        try (PreparedStatement done = Session.prepare(connection, insert, i + 1, step.name())) {
          done.execute();
        }
      }
      connection.commit();
    } finally {
      connection.setNetworkTimeout(Runnable::run, timeout);
    }
  }

  /** Returns the version of the tables; 0 without tables. */
  private int version(Connection connection) throws SQLException {
    if (!exists(connection, HAS_VERSION)) {
      return 0;
    }
    int version =
        Session
            .query( // qualified, so that a missing privilege on the schema is an error of its own
                connection,
                "SELECT max(version) FROM " + name + ".schema_version",
                row -> row.getInt(1));
    if (version > steps.size()) {
      throw new StoreException(
          "schema %s has version %d, and this release knows %d: run a newer release"
              .formatted(name, version, steps.size()),
          null);
    }
    return version;
  }

  /**
   * Fails if names without a schema mean tables of another one, where tables would be created or
   * changed that belong to others.
   */
  private void requireSchema(Connection connection) throws SQLException {
    String found =
        Session.query(
            connection, "SELECT current_schema()", row -> String.valueOf(row.getString(1)));
    if (!found.equals(name)) {
      throw new StoreException(
          ("the session is in schema %s in place of %s, to which search_path was set: something"
                  + " between this process and PostgreSQL does not keep the settings of a session,"
                  + " such as a pooler with pool_mode = transaction")
              .formatted(found, name),
          null);
    }
  }

  private boolean exists(Connection connection, String question) throws SQLException {
    try (PreparedStatement sql = Session.prepare(connection, question, name);
        ResultSet row = sql.executeQuery()) {
      return row.next();
    }
  }

  private String whatToGrant(Connection connection, SQLException denied) throws SQLException {
    connection.rollback();
    return Session.query(
        connection,
        "SELECT current_user, current_database()",
        row ->
            ("role %1$s may not do what is needed in schema %2$s (%3$s): start the service once as"
                 + " the schema's owner, then GRANT USAGE ON SCHEMA %2$s TO %1$s and GRANT SELECT,"
                 + " INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %2$s TO %1$s; or let it make"
                 + " the tables itself: GRANT CREATE ON DATABASE %4$s TO %1$s")
                .formatted(row.getString(1), name, denied.getMessage(), row.getString(2)));
  }

  private static Step read(String file) {
    try (InputStream sql = Objects.requireNonNull(Schema.class.getResourceAsStream(file), file)) {
      return new Step(file, new String(sql.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
