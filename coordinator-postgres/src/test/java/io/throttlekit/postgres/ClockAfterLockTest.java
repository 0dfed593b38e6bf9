package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static io.throttlekit.postgres.StoreCalls.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A window that ends while a transaction waits for row locks; by the real clock. */
@RealPostgres
class ClockAfterLockTest {
  private static final long WINDOW = 1_500;
  private static final String WAITING =
      "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
          + " AND datname = current_database()";
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final FixedWindow window = new FixedWindow(10, WINDOW);
  private final Budget budget = StoreCalls.budget(window, "a");
  private final PostgresSettings settings = Wanted.of(database.url()).settings();
  private final Database.Surroundings around = TestSurroundings.notifying(StoreListener.NONE);
  private final PostgresGlobalCoordinator coordinator =
      new PostgresGlobalCoordinator(settings, around);
  private final PostgresCounterStore store = new PostgresCounterStore(settings, around);
  private final PostgresRegionalEscrow escrow = new PostgresRegionalEscrow(settings, around);

  @BeforeEach
  void makeTables() {
    answer(coordinator.health());
    database.empty();
  }

  @AfterEach
  void close() {
    coordinator.close();
    store.close();
    escrow.close();
  }

  @Test
  void aLeaseThatWaitedIntoTheNextWindowIsGrantedFromIt() throws SQLException {
    LeaseGrant first = answer(coordinator.lease(StoreCalls.wish(budget, "eu", 10)));
    LeaseGrant waited =
        whileHeld(
            "SELECT FROM throttlekit.parties FOR UPDATE",
            () -> coordinator.lease(StoreCalls.wish(budget, "us", 4)));
    assertThat(waited.storeNowMillis()).isGreaterThanOrEqualTo(first.windowEndMillis());
    assertThat(waited.windowEndMillis()).isGreaterThan(first.windowEndMillis());
    assertThat(waited.units()).isEqualTo(4);
    assertThat(answer(coordinator.lease(StoreCalls.wish(budget, "eu", 10))).units())
        .as("the window is not rolled back, and nothing is granted twice")
        .isIn(6L, 10L);
    assertThat(database.query("SELECT max(leased) FROM throttlekit.windows")).isEqualTo("10");
  }

  @Test
  void aReturnThatWaitedIntoTheNextWindowIsForfeited() throws SQLException {
    LeaseGrant first = answer(coordinator.lease(StoreCalls.wish(budget, "eu", 10)));
    BudgetReturn units = new BudgetReturn(budget, "eu", "x", first.windowEndMillis(), 5);
    assertThat(
            whileHeld(
                "SELECT FROM throttlekit.parties FOR UPDATE", () -> coordinator.reconcile(units)))
        .isFalse();
  }

  @Test
  void aChargeThatWaitedIntoTheNextWindowIsCountedThere() throws SQLException {
    LeaseRequest all = new LeaseRequest(StoreCalls.key(window, "a"), window, 10, DataLoss.REFILL);
    LeaseGrant first = answer(store.lease(all));
    LeaseGrant waited =
        whileHeld("SELECT FROM throttlekit.counters FOR UPDATE", () -> store.lease(all));
    assertThat(waited.storeNowMillis()).isGreaterThanOrEqualTo(first.windowEndMillis());
    assertThat(waited.units()).isEqualTo(10);
  }

  @Test
  void unitsThatExpireWhileALeaseWaitsAreNotGranted() throws SQLException {
    long now = answer(escrow.health());
    EscrowRefill refill =
        new EscrowRefill(StoreCalls.key(window, "a"), "1", now + WINDOW, now, now + WINDOW, 8);
    assertThat(answer(escrow.refill(refill))).isTrue();
    assertThat(
            whileHeld(
                    "SELECT FROM throttlekit.escrow FOR UPDATE",
                    () -> escrow.lease(refill.key(), 5))
                .units())
        .isZero();
    assertThat(answer(escrow.release(refill.key(), now + WINDOW))).isZero();
  }

  @Test
  void aShareWhoseLeaseEndsWhileAHeartbeatWaitsIsFree() throws SQLException {
    Coordination terms = new Coordination(Aggregate.MIN, Allocation.DEMAND, true);
    try (PostgresConcurrencyCoordinator limits =
        new PostgresConcurrencyCoordinator(settings, terms, around)) {
      assertThat(answer(limits.heartbeat(Heartbeats.of("a", 1, WINDOW))).share()).isEqualTo(10);
      ShareGrant waited =
          whileHeld(
              "SELECT FROM throttlekit.fleets FOR UPDATE",
              () -> limits.heartbeat(Heartbeats.of("b", 1)));
      assertThat(waited.share()).isEqualTo(10);
      assertThat(waited.nodes()).isEqualTo(1);
    }
  }

  /** Returns the result of a call that has to wait for row locks until its window has ended. */
  private <T> T whileHeld(String rows, Supplier<CompletionStage<T>> call) throws SQLException {
    try (Connection holder = database.connect();
        Statement sql = holder.createStatement()) {
      holder.setAutoCommit(false);
      sql.execute(rows);
      CompletionStage<T> waiting = call.get();
      await("waiting for the rows", () -> !database.query(WAITING).isEmpty());
      long over = TimeSource.system().wallMillis() + WINDOW + 1;
      await("over", () -> TimeSource.system().wallMillis() > over);
      assertThat(waiting.toCompletableFuture()).isNotDone();
      holder.rollback();
      return answer(waiting);
    }
  }
}
