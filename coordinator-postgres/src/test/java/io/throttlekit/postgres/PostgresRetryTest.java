package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static io.throttlekit.postgres.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.Terms;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests retries of transactions after conflicts with others. */
@RealPostgres
class PostgresRetryTest {
  private static final String WAITING =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
          + " AND datname = current_database()";
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final RecordingListener listener = new RecordingListener();
  private final Budget budget = StoreCalls.budget(StoreCalls.FIVE, "a");
  private final PostgresGlobalCoordinator coordinator =
      new PostgresGlobalCoordinator(
          Wanted.of(database.url()).settings(), TestSurroundings.notifying(listener));

  @BeforeEach
  void makeTables() {
    answer(coordinator.health());
    database.empty();
  }

  @AfterEach
  void close() {
    coordinator.close();
    database.run("DROP TRIGGER IF EXISTS in_the_way ON throttlekit.windows");
  }

  @ParameterizedTest
  @ValueSource(strings = {"40001", "40P01"})
  void conflictsAreRetriedAndCountedOnce(String state) {
    failFirst(3, state);
    assertThat(answer(coordinator.lease(StoreCalls.wish(budget, "eu", 2))).units()).isEqualTo(2);
    assertThat(listener.triedAgain).hasValue(3);
    assertThat(database.query("SELECT leased FROM throttlekit.windows")).isEqualTo("2");
  }

  @Test
  void retriesAfterMigratingARestoredOlderSchema() {
    answer(coordinator.lease(StoreCalls.wish(budget, "eu", 2)));
    String version = database.query("SELECT max(version) FROM throttlekit.schema_version");
    database.run(
        "ALTER TABLE throttlekit.agreements DROP COLUMN asked;"
            + " DELETE FROM throttlekit.schema_version WHERE version >= 5");
    assertThat(answer(coordinator.lease(StoreCalls.wish(budget, "eu", 2))).units()).isEqualTo(2);
    assertThat(database.query("SELECT max(version) FROM throttlekit.schema_version"))
        .isEqualTo(version);
  }

  @Test
  void retriesAreBounded() {
    failFirst(1_000, "40001");
    assertThat(failure(coordinator.lease(StoreCalls.wish(budget, "eu", 2))))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("in the way");
    assertThat(database.query("SELECT last_value FROM tries"))
        .isEqualTo(String.valueOf(Database.ATTEMPTS));
  }

  @Test
  void otherErrorsAreNotRetried() {
    failFirst(1, "22012");
    assertThat(failure(coordinator.lease(StoreCalls.wish(budget, "eu", 2))))
        .isInstanceOf(StoreException.class);
    assertThat(listener.triedAgain).hasValue(0);
  }

  @Test
  void partiesThatShareABudgetByMistakeDoNotOverdrawIt() throws SQLException {
    List<CompletionStage<LeaseGrant>> asked = new ArrayList<>();
    answer(coordinator.lease(shared("scope0")));
    try (Connection holder = database.connect();
        Statement sql = holder.createStatement()) {
      holder.setAutoCommit(false);
      sql.execute("SELECT FROM throttlekit.windows FOR UPDATE");
      for (int i = 0; i < 4; i++) {
        asked.add(coordinator.lease(shared("scope" + i)));
      }
      StoreCalls.await("about to write", () -> database.query(WAITING).equals("4"));
      holder.rollback();
    }
    long units = asked.stream().mapToLong(each -> answer(each).units()).sum();
    assertThat(units).as("of 5, 2 are leased already").isEqualTo(3);
    assertThat(database.query("SELECT leased FROM throttlekit.windows")).isEqualTo("5");
    assertThat(listener.triedAgain.get()).as("they read outdated rows").isGreaterThan(2);
  }

  private static BudgetLease shared(String scope) {
    Budget shared =
        new Budget(
            StoreCalls.key(StoreCalls.FIVE, "a"),
            StoreCalls.FIVE,
            new Terms(scope, List.of(StoreCalls.FIVE)));
    return new BudgetLease(shared, "eu", BudgetLease.CURRENT, 2, DataLoss.REFILL);
  }

  /** Makes the first writes of windows fail, as after a conflict with another transaction. */
  private static void failFirst(int times, String state) {
    database.run("DROP SEQUENCE IF EXISTS public.tries; CREATE SEQUENCE public.tries");
    database.run(
        """
        CREATE OR REPLACE FUNCTION public.in_the_way() RETURNS trigger LANGUAGE plpgsql AS $$
          BEGIN
            IF nextval('public.tries') <= %d THEN
              RAISE EXCEPTION 'in the way' USING ERRCODE = '%s';
            END IF;
            RETURN NEW;
          END $$;
        CREATE TRIGGER in_the_way BEFORE INSERT ON throttlekit.windows
          FOR EACH ROW EXECUTE FUNCTION public.in_the_way()\
        """
            .formatted(times, state));
  }
}
