package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.TimeSource;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.share.Coordination;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreException;
import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that what is set for a role or a database changes nothing. */
@RealPostgres
class PostgresSessionSettingsTest {
  private static final String ROLE = "set_role";

  /** Settings of each kind, with a value that would break calls or change their answers. */
  private static final Map<String, String> SET =
      Map.ofEntries(
          Map.entry("search_path", "public"),
          Map.entry("statement_timeout", "'700ms'"),
          Map.entry("lock_timeout", "'1ms'"),
          Map.entry("idle_in_transaction_session_timeout", "'1ms'"),
          Map.entry("idle_session_timeout", "'150ms'"),
          Map.entry("default_transaction_isolation", "serializable"),
          Map.entry("default_transaction_read_only", "on"),
          Map.entry("default_transaction_deferrable", "on"),
          Map.entry("client_min_messages", "error"),
          Map.entry("standard_conforming_strings", "off"),
          Map.entry("array_nulls", "off"),
          Map.entry("bytea_output", "escape"),
          Map.entry("DateStyle", "'German, DMY'"),
          Map.entry("IntervalStyle", "sql_standard"),
          Map.entry("TimeZone", "'Asia/Kathmandu'"),
          Map.entry("extra_float_digits", "'-15'"),
          Map.entry("synchronous_commit", "off"));

  /** The settings of a session, whatever the role has. */
  private static final Map<String, String> WANTED =
      Map.ofEntries(
          Map.entry("search_path", "throttlekit"),
          Map.entry("statement_timeout", "5min"),
          Map.entry("lock_timeout", "0"),
          Map.entry("idle_in_transaction_session_timeout", "5min"),
          Map.entry("idle_session_timeout", "0"),
          Map.entry("transaction_timeout", "0"),
          Map.entry("transaction_isolation", "read committed"),
          Map.entry("transaction_read_only", "off"),
          Map.entry("client_min_messages", "warning"),
          Map.entry("standard_conforming_strings", "on"),
          Map.entry("synchronous_commit", "on"));

  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final RecordingListener listener = new RecordingListener();

  @BeforeEach
  void makeRole() {
    database.run("CREATE ROLE " + ROLE + " LOGIN");
    database.run("GRANT CREATE ON DATABASE %s TO %s".formatted(database.name(), ROLE));
    database.run("GRANT CREATE ON SCHEMA public TO " + ROLE);
  }

  @AfterEach
  void dropRole() {
    database.run("ALTER DATABASE %s RESET ALL".formatted(database.name()));
    database.run("DROP OWNED BY %1$s CASCADE; DROP ROLE %1$s".formatted(ROLE));
  }

  @ParameterizedTest
  @ValueSource(strings = {"ROLE %s", "DATABASE %s", "ROLE %s IN DATABASE %s"})
  void settingsOfARoleOrADatabaseChangeNothing(String where) throws SQLException {
    String place =
        where.startsWith("ROLE")
            ? where.formatted(ROLE, database.name())
            : where.formatted(database.name());
    SET.forEach(
        (name, value) -> database.run("ALTER %s SET %s = %s".formatted(place, name, value)));
    if (hasTransactionTimeout()) {
      database.run("ALTER %s SET transaction_timeout = '500ms'".formatted(place));
    }
    PostgresSettings settings =
        Wanted.of(database.url()).user(ROLE).deadlines(300_000, 300_000).settings();
    Pool pool = new Pool(settings, true, TimeSource.system(), listener);
    try (Connection connection = pool.connection()) {
      for (Map.Entry<String, String> wanted : WANTED.entrySet()) {
        if (!wanted.getKey().equals("transaction_timeout") || hasTransactionTimeout()) {
          assertThat(shown(connection, wanted.getKey()))
              .as(wanted.getKey())
              .isEqualTo(wanted.getValue());
        }
      }
    } finally {
      pool.close();
    }
    decide(settings);
    assertThat(listener.failures).as("%s", listener.reasons).isEmpty();
    assertThat(
            database.query(
                "SELECT string_agg(DISTINCT schemaname, ',') FROM pg_tables WHERE"
                    + " tableowner = '"
                    + ROLE
                    + "'"))
        .isEqualTo("throttlekit");
  }

  private void decide(PostgresSettings settings) {
    try (PostgresCounterStore store =
            new PostgresCounterStore(settings, TestSurroundings.notifying(listener));
        PostgresRegionalEscrow escrow =
            new PostgresRegionalEscrow(settings, TestSurroundings.notifying(listener));
        PostgresConcurrencyCoordinator limits =
            new PostgresConcurrencyCoordinator(
                settings, Coordination.DEFAULT, TestSurroundings.notifying(listener))) {
      assertThat(StoreCalls.acquire(store, "a", 2).remaining()).isEqualTo(3);
      assertThat(StoreCalls.acquire(store, "a", 4).admitted()).isFalse();
      assertThat(Heartbeats.beat(limits, "a", 1).digests()).hasSize(1);
      long end = TimeSource.system().wallMillis() + 600_000;
      assertThat(
              answer(
                  escrow.refill(
                      new EscrowRefill(StoreCalls.key(StoreCalls.FIVE, "a"), "1", end, 0, end, 8))))
          .isTrue();
      assertThat(answer(escrow.lease(StoreCalls.key(StoreCalls.FIVE, "a"), 3)).units())
          .as("of the same run of the server, whatever the time zone and style of dates")
          .isEqualTo(3);
    }
  }

  @Test
  void aServerThatIsConfiguredAsReadOnlyStaysSo() throws SQLException {
    try (PostgresProcess readOnly = PostgresProcess.start("default_transaction_read_only=on")) {
      Pool pool =
          new Pool(
              Wanted.of(readOnly.url("postgres")).settings(), true, TimeSource.system(), listener);
      try (Connection connection = pool.connection()) {
        assertThat(shown(connection, "transaction_read_only")).isEqualTo("on");
      } finally {
        pool.close();
      }
    }
  }

  @Test
  void aSessionInAnotherSchemaIsAnErrorAndTouchesNoTable() throws SQLException {
    Schema schema =
        new Schema("own", List.of(new Schema.Step("one", "CREATE TABLE t (a int)")), false);
    try (Connection connection = database.connect()) {
      connection.setAutoCommit(false);
      assertThatThrownBy(() -> schema.ensure(connection))
          .isInstanceOf(StoreException.class)
          .hasMessageStartingWith("the session is in schema public in place of own, to which")
          .hasMessageContaining("pool_mode = transaction");
    }
    assertThat(database.query("SELECT count(*) FROM pg_tables WHERE tablename = 't'"))
        .isEqualTo("0");
    try (Connection connection = database.connect()) {
      connection.setAutoCommit(false);
      connection.setSchema("own");
      schema.ensure(connection);
    }
    Schema again =
        new Schema("own", List.of(new Schema.Step("one", "CREATE TABLE t (a int)")), false);
    try (Connection connection = database.connect()) {
      connection.setAutoCommit(false);
      assertThatThrownBy(() -> again.ensure(connection))
          .hasMessageStartingWith("the session is in schema public in place of own");
    }
  }

  private static String shown(Connection connection, String setting) throws SQLException {
    return Session.query(connection, "SHOW " + setting, row -> row.getString(1));
  }

  private static boolean hasTransactionTimeout() {
    return !database
        .query("SELECT 1 FROM pg_settings WHERE name = 'transaction_timeout'")
        .isEmpty();
  }
}
