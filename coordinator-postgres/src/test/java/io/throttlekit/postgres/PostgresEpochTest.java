package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static io.throttlekit.postgres.StoreCalls.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A PostgreSQL that has lost its rows, or got back older ones. */
@RealPostgres
class PostgresEpochTest {
  private static final long START = 1_700_000_000_000L;
  private static final long MINUTE = 60_000;
  private static final long WINDOW_END = START - START % MINUTE + MINUTE;
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final ManualTime clock = new ManualTime(START);
  private final FixedWindow window = new FixedWindow(5, MINUTE);
  private final Budget budget = StoreCalls.budget(window, "a");
  private final RecordingListener listener = new RecordingListener();
  private final List<AutoCloseable> opened = new ArrayList<>();

  @BeforeEach
  void empty() {
    database.empty();
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
  }

  @Test
  void theFirstUseIsNoLoss() {
    assertThat(charge(store(), DataLoss.DENY).admitted()).isTrue();
    assertThat(charge(store(), DataLoss.DENY).admitted()).isTrue();
    assertThat(lease(coordinator(), BudgetLease.CURRENT, DataLoss.DENY).units()).isEqualTo(1);
    assertThat(lease(coordinator(), BudgetLease.CURRENT, DataLoss.DENY).units()).isEqualTo(1);
    assertThat(listener.losses).isEmpty();
  }

  @Test
  void refusesAfterALossUntilTheWindowEndsIfTheRuleDenies() {
    PostgresCounterStore store = store();
    charge(store, DataLoss.DENY);
    database.empty();
    assertThat(charge(store, DataLoss.DENY))
        .isEqualTo(Decision.refuse(5, 0, WINDOW_END - START, WINDOW_END - START));
    assertThat(charge(store, DataLoss.REFILL).remaining()).isEqualTo(4);
    clock.setWall(WINDOW_END - 1);
    assertThat(charge(store, DataLoss.DENY).admitted()).isFalse();
    assertThat(charge(store(), DataLoss.DENY).admitted()).as("of a new process").isFalse();
    clock.setWall(WINDOW_END);
    assertThat(charge(store, DataLoss.DENY).admitted()).isTrue();
    assertThat(listener.losses).containsExactly(START);
  }

  @Test
  void aLossIsDetectedAlthoughANewProcessConnectedFirst() {
    PostgresCounterStore old = store();
    charge(old, DataLoss.DENY);
    database.empty();
    clock.advance(1_000);
    PostgresCounterStore fresh = store();
    assertThat(charge(fresh, DataLoss.DENY).admitted()).as("not notified of the loss").isTrue();
    clock.advance(1_000);
    assertThat(charge(old, DataLoss.DENY).admitted()).isFalse();
    assertThat(charge(fresh, DataLoss.DENY).admitted()).isFalse();
    assertThat(listener.losses).containsExactly(START + 1_000, START + 1_000);
  }

  @Test
  void olderRowsAreALoss() {
    PostgresCounterStore store = store();
    charge(store, DataLoss.DENY);
    database.run(
        "UPDATE throttlekit.counter_epoch SET id = gen_random_uuid(), begun_millis = 1000000");
    assertThat(charge(store, DataLoss.DENY).admitted()).isFalse();
    assertThat(listener.losses).containsExactly(START);
  }

  @Test
  void concurrentDetectionsBeginOneEpoch() {
    PostgresCounterStore one = store();
    PostgresCounterStore other = store();
    charge(one, DataLoss.DENY);
    charge(other, DataLoss.DENY);
    database.empty();
    charge(one, DataLoss.DENY);
    String epoch = database.query("SELECT id FROM throttlekit.counter_epoch");
    assertThat(charge(other, DataLoss.DENY).admitted()).isFalse();
    assertThat(database.query("SELECT id FROM throttlekit.counter_epoch")).isEqualTo(epoch);
  }

  @Test
  void recreatesADroppedSchema() {
    PostgresCounterStore store = store();
    charge(store, DataLoss.DENY);
    database.run("DROP SCHEMA throttlekit CASCADE");
    assertThat(charge(store, DataLoss.DENY).admitted()).isFalse();
    assertThat(charge(store, DataLoss.REFILL).remaining()).isEqualTo(4);
  }

  @Test
  void underDenyGrantsNothingOfWindowsLeasableBeforeTheLoss() {
    PostgresGlobalCoordinator coordinator = coordinator();
    long next = WINDOW_END + MINUTE;
    lease(coordinator, BudgetLease.CURRENT, DataLoss.DENY);
    database.empty();
    assertThat(lease(coordinator, BudgetLease.CURRENT, DataLoss.DENY))
        .isEqualTo(new LeaseGrant(0, WINDOW_END, START, 0));
    assertThat(lease(coordinator, next, DataLoss.DENY).units()).isZero();
    assertThat(lease(coordinator, BudgetLease.CURRENT, DataLoss.REFILL).units()).isEqualTo(1);
    clock.setWall(WINDOW_END);
    assertThat(lease(coordinator, next, DataLoss.DENY).units()).isZero();
    assertThat(lease(coordinator, next + MINUTE, DataLoss.DENY).units()).isEqualTo(1);
    clock.setWall(next);
    assertThat(lease(coordinator, BudgetLease.CURRENT, DataLoss.DENY).units()).isEqualTo(1);
  }

  private static Decision charge(PostgresCounterStore store, DataLoss onDataLoss) {
    return answer(store.acquire(List.of(claim(new FixedWindow(5, MINUTE), "u", 1, onDataLoss))))
        .decisions()
        .getFirst();
  }

  private LeaseGrant lease(
      PostgresGlobalCoordinator coordinator, long windowEnd, DataLoss onDataLoss) {
    return answer(coordinator.lease(new BudgetLease(budget, "eu", windowEnd, 1, onDataLoss)));
  }

  private PostgresCounterStore store() {
    PostgresCounterStore store =
        new PostgresCounterStore(Wanted.of(database.url()).settings(), around());
    opened.add(store);
    return store;
  }

  private PostgresGlobalCoordinator coordinator() {
    PostgresGlobalCoordinator coordinator =
        new PostgresGlobalCoordinator(Wanted.of(database.url()).settings(), around());
    opened.add(coordinator);
    return coordinator;
  }

  private Database.Surroundings around() {
    return new Database.Surroundings(TimeSource.system(), TestSurroundings.TIMER, listener, clock);
  }
}
