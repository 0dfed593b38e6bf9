package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.CounterKey;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.share.Coordination;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.steering.SteeringExchange.Answer;
import io.throttlekit.steering.SteeringExchange.Visit;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.Persistence.Cause;
import io.throttlekit.store.Persistence.Gap;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the roles of docs/POSTGRES.md with exactly the SQL of that document. */
@RealPostgres
class PostgresRolesTest {
  private static final String OWNER = "throttlekit_owner";
  private static final String SERVICE = "throttlekit_service";
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final RecordingListener listener = new RecordingListener();

  @BeforeAll
  static void makeRoles() throws IOException {
    Path page = Path.of(System.getProperty("throttlekit.root", ".."), "docs", "POSTGRES.md");
    String text = Files.readString(page, StandardCharsets.UTF_8);
    int begin = text.indexOf("```sql") + "```sql".length();
    database.run(text.substring(begin, text.indexOf("```", begin)));
    database.run("REVOKE CREATE ON SCHEMA public FROM PUBLIC");
    try (PostgresGlobalCoordinator owner =
        new PostgresGlobalCoordinator(
            settings(OWNER), TestSurroundings.notifying(StoreListener.NONE))) {
      answer(owner.health());
    }
  }

  @AfterAll
  static void dropRoles() {
    database.run(
        "DROP OWNED BY throttlekit_service; DROP OWNED BY throttlekit_owner;"
            + " DROP ROLE throttlekit_service; DROP ROLE throttlekit_owner");
  }

  @Test
  void theRoleOfTheServiceSuffices() {
    CounterKey key = StoreCalls.key(StoreCalls.FIVE, "a");
    Budget budget = StoreCalls.budget(StoreCalls.FIVE, "a");
    try (PostgresCounterStore store =
            new PostgresCounterStore(settings(SERVICE), TestSurroundings.notifying(listener));
        PostgresGlobalCoordinator coordinator =
            new PostgresGlobalCoordinator(settings(SERVICE), TestSurroundings.notifying(listener));
        PostgresRegionalEscrow escrow =
            new PostgresRegionalEscrow(settings(SERVICE), TestSurroundings.notifying(listener));
        PostgresSteeringExchange steering =
            new PostgresSteeringExchange(settings(SERVICE), TestSurroundings.notifying(listener));
        PostgresConcurrencyCoordinator limits =
            new PostgresConcurrencyCoordinator(
                settings(SERVICE), Coordination.DEFAULT, TestSurroundings.notifying(listener))) {
      long epoch = answer(steering.visit(visit("a", "", null))).epoch();
      answer(steering.visit(visit("b", "report", null)));
      Answer published =
          answer(steering.visit(visit("a", "", new SteeringExchange.Record(epoch, 1, "record"))));
      assertThat(published.published()).isTrue();
      assertThat(published.reports()).hasSize(1);
      assertThat(Heartbeats.beat(limits, "a", 1).digests()).hasSize(1);
      assertThat(Heartbeats.beat(limits, "a", 2).nodes()).isEqualTo(1);
      answer(Heartbeats.leave(limits, "a"));
      assertThat(StoreCalls.acquire(store, "a", 2).remaining()).isEqualTo(3);
      LeaseGrant grant = answer(store.lease(StoreCalls.lease("a", 2)));
      assertThat(grant.units()).isEqualTo(2);
      answer(
          store
              .returnUnits(StoreCalls.lease("a", 2), grant.windowEndMillis(), 1)
              .thenApply(_ -> true));
      answer(store.reset(key, StoreCalls.FIVE).thenApply(_ -> true));
      LeaseGrant lease = answer(coordinator.lease(StoreCalls.wish(budget, "eu", 5)));
      assertThat(lease.units()).isEqualTo(5);
      assertThat(
              answer(
                  coordinator.reconcile(
                      new BudgetReturn(budget, "eu", "x", lease.windowEndMillis(), 2))))
          .isTrue();
      long end = TimeSource.system().wallMillis() + 60_000;
      assertThat(answer(escrow.refill(new EscrowRefill(key, "1", end, 0, end, 8)))).isTrue();
      assertThat(answer(escrow.lease(key, 3)).units()).isEqualTo(3);
      assertThat(answer(escrow.release(key, end))).isEqualTo(5);
      database.run(
          "UPDATE throttlekit.counters SET kept_until_millis = 1;"
              + " UPDATE throttlekit.windows SET window_end_millis = 2 WHERE false;"
              + " UPDATE throttlekit.agreements SET until_millis = 1;"
              + " UPDATE throttlekit.fleets SET kept_until_millis = 1;"
              + " UPDATE throttlekit.escrow SET ends_millis = 1");
      StoreCalls.await("collected", () -> listener.collected.get() >= 3);
    }
    assertThat(listener.failures).as("%s", listener.reasons).isEmpty();
  }

  @Test
  void aRoleThatCannotReadTheServersIdentityIsReported() {
    assertThat(gaps()).isEmpty();
    for (String function : List.of("pg_control_system()", "pg_walfile_name(pg_lsn)")) {
      database.run("REVOKE EXECUTE ON FUNCTION " + function + " FROM PUBLIC");
      try {
        assertThat(gaps())
            .as("without %s", function)
            .containsExactly(
                new Gap(
                    Cause.UNNOTICED,
                    "the role may not call pg_control_system() and pg_walfile_name()",
                    "grant EXECUTE on functions pg_control_system() and"
                        + " pg_walfile_name(pg_lsn)"));
      } finally {
        database.run("GRANT EXECUTE ON FUNCTION " + function + " TO PUBLIC");
      }
    }
  }

  /** Returns what a process may lose that starts now, except for the settings of fast tests. */
  private List<Gap> gaps() {
    listener.persistence.clear();
    try (PostgresCounterStore store =
        new PostgresCounterStore(settings(SERVICE), TestSurroundings.notifying(listener))) {
      StoreCalls.acquire(store, "a", 1);
    }
    return listener.persistence.getLast().gaps().stream()
        .filter(gap -> gap.cause() != Cause.RESTART)
        .toList();
  }

  @Test
  void theServiceChangesNoTable() throws SQLException {
    try (Connection service = DriverManager.getConnection(database.url(), SERVICE, "");
        Statement sql = service.createStatement()) {
      for (String change :
          new String[] {
            "DROP TABLE throttlekit.counters",
            "TRUNCATE throttlekit.counters",
            "ALTER TABLE throttlekit.counters ADD more int",
            "CREATE TABLE throttlekit.mine (a int)",
            "CREATE SCHEMA mine"
          }) {
        assertThatThrownBy(() -> sql.execute(change))
            .as(change)
            .isInstanceOf(SQLException.class)
            .extracting(e -> ((SQLException) e).getSQLState())
            .isEqualTo("42501");
      }
    }
  }

  private static Visit visit(
      String replica, String report, SteeringExchange.@Nullable Record record) {
    return new Visit(replica, 1, report, 0, 0, record, false);
  }

  private static PostgresSettings settings(String role) {
    return Wanted.of(database.url()).user(role).collectEvery(50).settings();
  }
}
