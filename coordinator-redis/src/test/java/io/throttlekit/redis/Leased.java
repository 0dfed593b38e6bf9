package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.answer;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.Terms;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;

/** Short forms of calls to a coordinator in tests. */
final class Leased {
  private Leased() {}

  /** Returns a budget of five in a window that does not end while a test runs. */
  static Budget five(String user) {
    return budget(user, 5, StoreCalls.FIVE.windowMillis());
  }

  static Budget budget(String user, long limit, long windowMillis) {
    return budget("shop", windowMillis, limit, "user", user);
  }

  static Budget budget(String domain, long windowMillis, long limit, String... entries) {
    FixedWindow window = new FixedWindow(limit, windowMillis);
    CounterKey key = CounterKey.of(domain + "|fixed_window|" + windowMillis, entries);
    return new Budget(key, window, new Terms(domain, List.of(window)));
  }

  static BudgetLease of(Budget budget, String region, long units) {
    return new BudgetLease(budget, region, BudgetLease.CURRENT, units, DataLoss.REFILL);
  }

  static BudgetLease denied(Budget budget, long windowEnd, long units) {
    return new BudgetLease(budget, "eu", windowEnd, units, DataLoss.DENY);
  }

  static LeaseGrant lease(GlobalCoordinator coordinator, Budget budget, long units) {
    return answer(coordinator.lease(of(budget, "eu", units)));
  }

  static CompletionStage<Boolean> returnUnits(
      GlobalCoordinator coordinator, Budget budget, String region, String id, LeaseGrant grant) {
    return coordinator.reconcile(
        new BudgetReturn(budget, region, id, grant.windowEndMillis(), grant.units()));
  }

  /** Returns whether the coordinator answers now. */
  static boolean answers(GlobalCoordinator coordinator) {
    try {
      lease(coordinator, five("anybody"), 1);
      return true;
    } catch (CompletionException _) {
      return false;
    }
  }
}
