package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.TermsMismatchException;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.CallId;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Counts round trips of a lease from a remote PostgreSQL, and the cost of a lost connection. */
@RealPostgres
class PostgresTripsTest {
  /** Longer than the half second of idleness after which Hikari validates a connection. */
  private static final long IDLE_MILLIS = 700;

  /** Identifies row versions: a new version has another place. */
  private static final String ROWS =
      "SELECT string_agg(concat(region, ctid, asked), ' ' ORDER BY region)"
          + " FROM throttlekit.agreements";

  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final RecordingListener listener = new RecordingListener();
  private final Budget budget = StoreCalls.budget(StoreCalls.FIVE, "a");
  private final CuttingProxy proxy = CuttingProxy.to(database.port());
  private final PostgresGlobalCoordinator coordinator =
      new PostgresGlobalCoordinator(
          Wanted.of("jdbc:postgresql://127.0.0.1:" + proxy.port() + "/" + database.name())
              .connections(1)
              .settings(),
          TestSurroundings.notifying(listener));

  @BeforeEach
  void makeTables() {
    answer(coordinator.health());
    database.empty();
    answer(coordinator.lease(StoreCalls.wish(budget, "eu", 1)));
    proxy.trips();
  }

  @AfterEach
  void close() {
    coordinator.close();
    proxy.close();
  }

  @Test
  void aLeaseOnAnIdleConnectionIsTwoTrips() {
    answer(coordinator.lease(StoreCalls.wish(budget, "eu", 1)));
    assertThat(proxy.trips()).as("at once").isEqualTo(2);
    long idle = TimeSource.system().wallMillis() + IDLE_MILLIS;
    StoreCalls.await("idle", () -> TimeSource.system().wallMillis() > idle);
    answer(coordinator.lease(StoreCalls.wish(budget, "eu", 1)));
    assertThat(proxy.trips()).as("later").isEqualTo(2);
  }

  @Test
  void aLeaseWithAnIdAndItsDuplicateAreTwoTripsEach() {
    BudgetLease lease =
        new BudgetLease(budget, "eu", BudgetLease.CURRENT, 1, DataLoss.REFILL, new CallId(16, 1));
    for (String which : List.of("first", "copy")) {
      answer(coordinator.lease(lease));
      assertThat(proxy.trips()).as(which).isEqualTo(2);
    }
  }

  @Test
  void aConnectionThatWasLostWhileIdleFailsNoCall() {
    database.run(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            + " WHERE datname = current_database() AND pid <> pg_backend_pid()");
    assertThat(answer(coordinator.lease(StoreCalls.wish(budget, "eu", 1))).units()).isEqualTo(1);
    assertThat(database.query("SELECT leased FROM throttlekit.windows")).isEqualTo("2");
    assertThat(listener.triedAgain).hasValue(1);
    assertThat(listener.failures).isEmpty();
  }

  @Test
  void aCallThatBreaksBeforeTheCommitIsRetriedAndCountedOnce() {
    proxy.cutAtNextAnswer();
    assertThat(answer(coordinator.lease(StoreCalls.wish(budget, "eu", 1))).units()).isEqualTo(1);
    assertThat(proxy.hasCut()).isTrue();
    assertThat(database.query("SELECT leased FROM throttlekit.windows")).isEqualTo("2");
    assertThat(listener.triedAgain).hasValue(1);
  }

  @Test
  void aRefusedLeaseIsTwoTripsAndWritesItsTermsOnce() {
    answer(coordinator.lease(StoreCalls.wish(budget, "us", 1)));
    Budget six =
        StoreCalls.budget(
            new FixedWindow(6, StoreCalls.FIVE.windowMillis()), "a"); // of the same party
    proxy.trips();
    assertThat(StoreCalls.failure(coordinator.lease(StoreCalls.wish(six, "eu", 1))))
        .isInstanceOf(TermsMismatchException.class);
    assertThat(proxy.trips()).as("new terms are written").isEqualTo(2);
    String rows = database.query(ROWS);
    assertThat(StoreCalls.failure(coordinator.lease(StoreCalls.wish(six, "eu", 1))))
        .isInstanceOf(TermsMismatchException.class);
    assertThat(proxy.trips()).as("known terms are not written").isEqualTo(2);
    assertThat(database.query(ROWS)).as("no row was written").isEqualTo(rows);
    answer(coordinator.lease(StoreCalls.wish(six, "us", 1)));
    assertThat(proxy.trips()).as("all regions change").isEqualTo(2);
    assertThat(
            database.query(
                "SELECT count(*) FROM throttlekit.agreements"
                    + " WHERE budgets[1] = 6 AND asked IS NULL"))
        .isEqualTo("2");
  }
}
