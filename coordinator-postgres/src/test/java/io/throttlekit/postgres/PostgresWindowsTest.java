package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.testkit.postgres.RealPostgres;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Windows of a server whose clock steps back, for a process without earlier knowledge. */
@RealPostgres
class PostgresWindowsTest {
  private static final long WINDOW = 10_000;
  private static final long END = 1_700_000_010_000L;
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final ManualTime clock = new ManualTime(END - 1);
  private final Budget budget = StoreCalls.budget(new FixedWindow(10, WINDOW), "a");
  private PostgresGlobalCoordinator coordinator = open();

  @BeforeEach
  void empty() {
    answer(coordinator.health());
    database.empty();
  }

  @AfterEach
  void close() {
    coordinator.close();
  }

  @Test
  void anOlderWindowIsNotGrantedOnceALaterOneWasCurrent() {
    assertThat(lease("eu", BudgetLease.CURRENT, 3)).isEqualTo(new LeaseGrant(3, END, END - 1, 7));
    clock.advance(1);
    assertThat(lease("eu", BudgetLease.CURRENT, 4))
        .isEqualTo(new LeaseGrant(4, END + WINDOW, END, 6));
    restartWithOlderClock();
    assertThat(lease("eu", END, 1).units()).isZero();
    assertThat(lease("us", BudgetLease.CURRENT, 9))
        .isEqualTo(new LeaseGrant(6, END + WINDOW, END, 0));
  }

  @Test
  void noWindowIsRolledBackWhenTheLaterOneWasOnlyRefused() {
    assertThat(lease("eu", END + WINDOW, 10).units()).isEqualTo(10);
    clock.advance(1);
    assertThat(lease("eu", BudgetLease.CURRENT, 1))
        .isEqualTo(new LeaseGrant(0, END + WINDOW, END, 0));
    restartWithOlderClock();
    assertThat(lease("eu", BudgetLease.CURRENT, 1))
        .isEqualTo(new LeaseGrant(0, END + WINDOW, END, 0));
  }

  private void restartWithOlderClock() {
    coordinator.close();
    coordinator = open();
    clock.setWall(END - 1);
  }

  private LeaseGrant lease(String region, long windowEnd, long units) {
    return answer(
        coordinator.lease(new BudgetLease(budget, region, windowEnd, units, DataLoss.REFILL)));
  }

  private PostgresGlobalCoordinator open() {
    return new PostgresGlobalCoordinator(
        Wanted.of(database.url()).settings(), TestSurroundings.clock(clock));
  }
}
