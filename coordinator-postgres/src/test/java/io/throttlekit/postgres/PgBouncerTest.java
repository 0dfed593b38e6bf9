package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static io.throttlekit.postgres.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.postgres.PgBouncerProcess;
import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.postgres.RealPgBouncer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests a PostgreSQL behind a real PgBouncer. */
@RealPgBouncer
class PgBouncerTest {
  private static final String TABLES =
      "SELECT string_agg(DISTINCT schemaname, ',') FROM pg_tables"
          + " WHERE tablename IN ('counters', 'schema_version', 'parties', 'escrow')";

  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final RecordingListener listener = new RecordingListener();

  @BeforeEach
  void dropSchema() {
    database.run("DROP SCHEMA IF EXISTS throttlekit CASCADE");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "", // its default refuses startup parameters that it does not know
        "ignore_startup_parameters = extra_float_digits, search_path, options",
        "server_reset_query =",
        "server_round_robin = 1"
      })
  void sessionPoolingWorksAlsoAfterARestart(String setting) {
    try (PgBouncerProcess pooler = start("pool_mode = session", setting)) {
      for (int start = 1; start <= 3; start++) {
        try (PostgresCounterStore store =
                new PostgresCounterStore(
                    Wanted.of(pooler.url(database.name())).settings(),
                    TestSurroundings.notifying(listener));
            PostgresGlobalCoordinator coordinator =
                new PostgresGlobalCoordinator(
                    Wanted.of(pooler.url(database.name())).settings(),
                    TestSurroundings.notifying(listener))) {
          assertThat(StoreCalls.acquire(store, "a", 1).remaining()).isEqualTo(5 - start);
          answer(coordinator.health());
        }
      }
      assertThat(database.query(TABLES)).as(pooler.log()).isEqualTo("throttlekit");
      assertThat(listener.failures).as("%s %s", listener.reasons, pooler.log()).isEmpty();
    }
  }

  /** Without a reset, a session has the statements that its earlier clients prepared. */
  @Test
  void sessionPoolingWorksInSessionsWithPreparedStatements() throws SQLException {
    try (PgBouncerProcess pooler = start("pool_mode = session", "server_reset_query =")) {
      useAtOnce(pooler, 4, "PREPARE \"S_1\" AS SELECT 1; PREPARE \"S_2\" AS SELECT 2; COMMIT");
      try (PostgresCounterStore store =
          new PostgresCounterStore(
              Wanted.of(pooler.url(database.name())).settings(),
              TestSurroundings.notifying(listener))) {
        assertThat(StoreCalls.acquire(store, "a", 1).remaining()).isEqualTo(4);
      }
      assertThat(listener.reasonsNotToConnect).as(pooler.log()).isEmpty();
    }
  }

  /**
   * The pooler has as many idle sessions as other clients have used at once, and takes the one that
   * was used last, or with round robin the one that was used first.
   */
  @ParameterizedTest(name = "{0} idle, server_round_robin {1}")
  @CsvSource({"0, 0", "0, 1", "1, 0", "1, 1", "4, 0", "4, 1"})
  void transactionPoolingIsNamedAtTheStartAndNothingIsWritten(int idle, int roundRobin)
      throws SQLException {
    try (PgBouncerProcess pooler =
        start(
            "pool_mode = transaction",
            "server_round_robin = " + roundRobin,
            "ignore_startup_parameters = extra_float_digits, search_path")) {
      useAtOnce(
          pooler, idle, "SELECT 1"); // begins a transaction, which has a session until its end
      try (PostgresCounterStore store = quickToConnect(pooler)) {
        // On a busy machine, the pooler may be too slow for a verification or two.
        StoreCalls.await(
            "a failure that names the setting", () -> namesTransactionPooling(store, pooler));
      }
      assertNothingIsWritten(pooler);
    }
  }

  /** The connection gets the same session each time: no other connection takes the session. */
  @Test
  void transactionPoolingOfASingleConnectionIsRefusedToo() throws SQLException {
    try (PgBouncerProcess pooler = start("pool_mode = transaction", "max_client_conn = 1")) {
      try (PostgresCounterStore store = quickToConnect(pooler)) {
        assertThat(failure(StoreCalls.ask(store, "a", 1)))
            .as(pooler.log())
            .hasMessageContaining("no second connection")
            .hasMessageContaining("default_pool_size");
      }
      assertNothingIsWritten(pooler);
    }
  }

  private static boolean namesTransactionPooling(
      PostgresCounterStore store, PgBouncerProcess pooler) {
    Throwable failure = failure(StoreCalls.ask(store, "a", 1));
    assertThat(failure).as(pooler.log()).hasMessageContaining("set pool_mode = session");
    return String.valueOf(failure.getMessage()).contains("PgBouncer with pool_mode = transaction");
  }

  private PostgresCounterStore quickToConnect(PgBouncerProcess pooler) {
    return new PostgresCounterStore(
        Wanted.of(pooler.url(database.name()))
            .quickToConnect()
            .deadlines(20_000, 20_000)
            .settings(),
        TestSurroundings.notifying(listener));
  }

  private void assertNothingIsWritten(PgBouncerProcess pooler) throws SQLException {
    assertThat(listener.reasonsNotToConnect)
        .isNotEmpty()
        .allSatisfy(reason -> assertThat(reason).contains("set pool_mode = session"));
    assertThat(database.query(TABLES)).isEmpty();
    assertThat(settingsThatOthersGet(pooler)).doesNotContain("throttlekit", "20s");
  }

  @Test
  void statementPoolingIsAnErrorThatNamesIt() {
    try (PgBouncerProcess pooler = start("pool_mode = statement");
        PostgresCounterStore store = quickToConnect(pooler)) {
      assertThat(failure(StoreCalls.ask(store, "a", 1)))
          .hasMessageMatching("(?s).*(statement pooling|pool_mode = session).*");
      assertThat(database.query(TABLES)).isEmpty();
    }
  }

  private static PgBouncerProcess start(String... settings) {
    return PgBouncerProcess.start(database.port(), PostgresProcess.SUPERUSER, settings);
  }

  private static void useAtOnce(PgBouncerProcess pooler, int clients, String statements)
      throws SQLException {
    List<Connection> open = new ArrayList<>();
    for (int i = 0; i < clients; i++) {
      Connection client = connect(pooler);
      client.setAutoCommit(false);
      open.add(client);
      try (Statement sql = client.createStatement()) {
        sql.execute(statements);
      }
    }
    for (Connection client : open) {
      client.close();
    }
  }

  private static List<String> settingsThatOthersGet(PgBouncerProcess pooler) throws SQLException {
    List<String> found = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      try (Connection other = connect(pooler)) {
        for (String setting : List.of("search_path", "statement_timeout")) {
          found.add(Session.query(other, "SHOW " + setting, row -> row.getString(1)));
        }
      }
    }
    return found;
  }

  private static Connection connect(PgBouncerProcess pooler) throws SQLException {
    return DriverManager.getConnection(
        pooler.url(database.name()) + "?prepareThreshold=0", PostgresProcess.SUPERUSER, "");
  }
}
