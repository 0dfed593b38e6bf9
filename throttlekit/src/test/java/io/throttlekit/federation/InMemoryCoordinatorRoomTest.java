package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.CallId;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.Terms;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** Tests the memory that a coordinator needs for requests with ever new values. */
class InMemoryCoordinatorRoomTest {
  private static final int MAX_BUDGETS = 100_000;

  private final ManualTime time = new ManualTime(1_000_000);
  private final InMemoryCoordinator coordinator = new InMemoryCoordinator(time);

  @Test
  void evictsBudgetsOfEndedWindows() {
    for (int i = 0; i < 200_000; i++) {
      assertThat(lease("user" + i, 1_000).join().units()).isEqualTo(1);
      if (i % 1_000 == 0) {
        time.advance(1_000);
      }
    }
    assertThat(coordinator.size()).isLessThan(5_000);
  }

  @Test
  void grantsNothingBeyondItsCapacityUntilWindowsEnd() {
    long day = 86_400_000;
    for (int i = 0; i < MAX_BUDGETS; i++) {
      assertThat(lease("user" + i, day).join().units()).isEqualTo(1);
    }
    for (int i = 0; i < 100_000; i++) {
      assertThat(lease("other" + i, day)).isCompletedExceptionally();
    }
    assertThat(coordinator.size()).isEqualTo(MAX_BUDGETS);
    assertThat(lease("user7", day).join().left()).as("existing budgets continue").isEqualTo(8);
    time.advance(day);
    assertThat(lease("other", day).join().units()).isEqualTo(1);
    assertThat(coordinator.size()).isEqualTo(1);
  }

  @Test
  void recordsTheCallsOfRememberedTenantsOnly() {
    FixedWindow window = new FixedWindow(1_000, 10_000);
    Budget budget =
        new Budget(
            CounterKey.of("4:shop", "path", "/"), window, new Terms("shop", List.of(window)));
    FairTerms terms = FairTerms.of(1_000, 10_000).withMaxTenants(100);
    for (int i = 0; i < 10_000; i++) {
      LeaseGrant first = lease(budget, terms, i).join();
      LeaseGrant again = lease(budget, terms, i).join();
      assertThat(again.units()).as("a repeated call").isEqualTo(first.units());
      assertThat(again.left()).isEqualTo(first.left());
      assertThat(coordinator.recorded()).isLessThanOrEqualTo(200);
    }
  }

  private CompletableFuture<LeaseGrant> lease(Budget budget, FairTerms terms, int invented) {
    FairTenant tenant =
        new FairTenant(
            CounterKey.of("4:shop", "path", "/", "tenant", "t" + invented),
            TenantWeight.unlisted(1),
            terms);
    return coordinator
        .lease(
            new BudgetLease(
                budget,
                "eu",
                BudgetLease.CURRENT,
                1,
                DataLoss.REFILL,
                new CallId(1, 1 + invented),
                tenant))
        .toCompletableFuture();
  }

  private CompletableFuture<LeaseGrant> lease(String user, long windowMillis) {
    FixedWindow window = new FixedWindow(10, windowMillis);
    Budget budget =
        new Budget(
            CounterKey.of("4:shop/" + windowMillis, "user", user),
            window,
            new Terms("shop", List.of(window)));
    return coordinator
        .lease(new BudgetLease(budget, "eu", BudgetLease.CURRENT, 1, DataLoss.REFILL))
        .toCompletableFuture();
  }
}
