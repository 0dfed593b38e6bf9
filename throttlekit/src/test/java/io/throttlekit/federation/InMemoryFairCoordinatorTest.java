package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Terms;
import io.throttlekit.tier.FairRule;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class InMemoryFairCoordinatorTest extends FairCoordinatorConformance {
  private static final long END = 1_700_000_010_000L;

  private final FairRule rule = FairRule.of(100, 10_000);
  private final Budget budget = budget(rule.window());
  private final FairTenant tenant = rule.tenant("a", 1);
  private final InMemoryCoordinator own = new InMemoryCoordinator(new ManualTime(END - 6_000));

  @Override
  protected GlobalCoordinator open(ManualTime clock) {
    return new InMemoryCoordinator(clock);
  }

  @Test
  void aBudgetThatTenantsShareIsNotLeasedWithoutOne() {
    assertThat(own.lease(lease(tenant)).toCompletableFuture()).isCompleted();
    assertThatIllegalArgumentException().isThrownBy(() -> own.lease(lease(null)));
    BudgetReturn back = new BudgetReturn(budget, "eu", "x", END, 5, null);
    assertThatIllegalArgumentException().isThrownBy(() -> own.reconcile(back));
  }

  @Test
  void aBudgetThatNoTenantsShareIsNotLeasedForOne() {
    assertThat(own.lease(lease(null)).toCompletableFuture()).isCompleted();
    assertThatIllegalArgumentException().isThrownBy(() -> own.lease(lease(tenant)));
    BudgetReturn back = new BudgetReturn(budget, "eu", "x", END, 5, tenant);
    assertThatIllegalArgumentException().isThrownBy(() -> own.reconcile(back));
  }

  private BudgetLease lease(@Nullable FairTenant of) {
    return new BudgetLease(budget, "eu", BudgetLease.CURRENT, 10, DataLoss.REFILL, null, of);
  }

  private Budget budget(FixedWindow window) {
    return new Budget(rule.pool(), window, new Terms("shop", List.of(window)));
  }
}
