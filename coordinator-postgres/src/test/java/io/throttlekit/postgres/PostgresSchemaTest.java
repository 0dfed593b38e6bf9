package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static io.throttlekit.postgres.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.federation.Budget;
import io.throttlekit.federation.TermsMismatchException;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tables that do not exist, are older or newer, or may not be created. */
@RealPostgres
class PostgresSchemaTest {
  private static final String NAME = "own";
  private static final String VERSION = "SELECT max(version) FROM own.schema_version";
  private static final List<Schema.Step> STEPS =
      List.of(
          new Schema.Step("one", "CREATE TABLE t (a int); INSERT INTO t VALUES (7)"),
          new Schema.Step("two", "ALTER TABLE t ADD b int NOT NULL DEFAULT 2"),
          new Schema.Step("three", "UPDATE t SET a = a + b"));
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  @BeforeEach
  void dropSchema() {
    database.run("DROP SCHEMA IF EXISTS own CASCADE");
  }

  @Test
  void migratesToTheNewestVersionAndKeepsTheRows() throws SQLException {
    ensure(1);
    assertThat(database.query(VERSION)).isEqualTo("1");
    ensure(3);
    assertThat(database.query(VERSION)).isEqualTo("3");
    assertThat(database.query("SELECT a FROM own.t")).isEqualTo("9");
    ensure(3);
    assertThat(database.query("SELECT a FROM own.t")).as("every step once").isEqualTo("9");
  }

  @Test
  void aStepThatFailsLeavesEverythingAsItWas() throws SQLException {
    ensure(1);
    List<Schema.Step> steps = new ArrayList<>(STEPS);
    steps.set(2, new Schema.Step("bad", "DELETE FROM t; SELECT 1 / 0"));
    assertThatThrownBy(() -> ensure(new Schema(NAME, steps, false)))
        .isInstanceOf(SQLException.class);
    assertThat(database.query(VERSION)).isEqualTo("1");
    assertThat(database.query("SELECT a FROM own.t")).isEqualTo("7");
  }

  @Test
  void anUnknownNewerVersionIsRejected() throws SQLException {
    ensure(3);
    assertThatThrownBy(() -> ensure(2))
        .isInstanceOf(StoreException.class)
        .hasMessage("schema own has version 3, and this release knows 2: run a newer release");
  }

  @Test
  void processesThatStartTogetherCreateTheTablesOnce() {
    CountDownLatch begin = new CountDownLatch(1);
    List<CompletableFuture<Boolean>> all = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      CompletableFuture<Boolean> done = new CompletableFuture<>();
      all.add(done);
      Thread.ofVirtual()
          .start(() -> {
            try {
              begin.await();
              ensure(3);
              done.complete(true);
            } catch (SQLException | InterruptedException e) {
              done.completeExceptionally(e);
            }
          });
    }
    begin.countDown();
    assertThat(all).allSatisfy(done -> assertThat(answer(done)).isTrue());
    assertThat(database.query("SELECT count(*) FROM own.schema_version")).isEqualTo("3");
    assertThat(database.query("SELECT a FROM own.t")).isEqualTo("9");
  }

  @Test
  void aRoleThatMayCreateNothingGetsAnErrorThatNamesTheGrants() {
    database.run("CREATE ROLE pauper LOGIN");
    RecordingListener listener = new RecordingListener();
    try (PostgresCounterStore store =
        new PostgresCounterStore(
            Wanted.of(database.url()).user("pauper").schema(NAME).settings(),
            TestSurroundings.notifying(listener))) {
      assertThat(failure(StoreCalls.ask(store, "a", 1)))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("role pauper may not")
          .hasMessageContaining(
              "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA own TO pauper")
          .hasMessageContaining("GRANT CREATE ON DATABASE " + database.name() + " TO pauper");
      assertThat(listener.failures).containsExactly(StoreListener.Failure.ERROR);
      database.run("GRANT CREATE ON DATABASE " + database.name() + " TO pauper");
      assertThat(StoreCalls.acquire(store, "a", 1).admitted()).as("it recovers by itself").isTrue();
    } finally {
      database.run("DROP OWNED BY pauper; DROP ROLE pauper");
    }
  }

  @ParameterizedTest
  @EnumSource
  void countersHaveTheConfiguredDurabilityAndBudgetsAreAlwaysDurable(Durability durability) {
    PostgresSettings settings =
        Wanted.of(database.url()).schema(NAME).counters(durability).settings();
    try (PostgresCounterStore store =
            new PostgresCounterStore(settings, TestSurroundings.notifying(StoreListener.NONE));
        PostgresGlobalCoordinator coordinator =
            new PostgresGlobalCoordinator(
                settings, TestSurroundings.notifying(StoreListener.NONE))) {
      StoreCalls.acquire(store, "a", 1);
      answer(coordinator.health());
    }
    String unlogged =
        "SELECT string_agg(relname, ',' ORDER BY relname) FROM pg_class WHERE relnamespace ="
            + " 'own'::regnamespace AND relkind = 'r' AND relpersistence = 'u'";
    assertThat(database.query(unlogged))
        .isEqualTo(durability == Durability.UNLOGGED ? "counter_epoch,counters,tenants" : "");
  }

  @Test
  void agreementsOfAnOlderSchemaStayValid() {
    PostgresSettings settings = Wanted.of(database.url()).schema(NAME).settings();
    long window = StoreCalls.FIVE.windowMillis();
    Budget old = StoreCalls.budget(StoreCalls.FIVE, "a");
    Budget changed = StoreCalls.budget(new FixedWindow(6, window), "a");
    try (PostgresGlobalCoordinator coordinator =
        new PostgresGlobalCoordinator(settings, TestSurroundings.notifying(StoreListener.NONE))) {
      answer(coordinator.lease(StoreCalls.wish(old, "eu", 1)));
      answer(coordinator.lease(StoreCalls.wish(old, "us", 1)));
    }
    database.run(
        "ALTER TABLE own.agreements DROP COLUMN asked;"
            + " DELETE FROM own.schema_version WHERE version >= 5");
    try (PostgresGlobalCoordinator coordinator =
        new PostgresGlobalCoordinator(settings, TestSurroundings.notifying(StoreListener.NONE))) {
      assertThat(failure(coordinator.lease(StoreCalls.wish(changed, "eu", 1))))
          .isInstanceOf(TermsMismatchException.class);
      assertThat(answer(coordinator.lease(StoreCalls.wish(changed, "us", 9))).units()).isEqualTo(4);
    }
    assertThat(database.query(VERSION)).isEqualTo("14");
  }

  private static void ensure(int steps) throws SQLException {
    ensure(new Schema(NAME, STEPS.subList(0, steps), false));
  }

  private static void ensure(Schema schema) throws SQLException {
    try (Connection connection = database.connect()) {
      connection.setAutoCommit(false);
      connection.setSchema(NAME);
      schema.ensure(connection);
    }
  }
}
