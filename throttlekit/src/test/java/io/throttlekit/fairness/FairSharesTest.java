package io.throttlekit.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What a pool costs: nodes that a decision visits, and what it remembers. */
class FairSharesTest {
  private static final long WINDOW = 1_000;

  @ParameterizedTest(name = "{0} tenants of {1} weights: at most {2} nodes for each weight, seed 6")
  @CsvSource({"10, 10, 1", "100000, 64, 3", "100000, 1, 5"})
  void aDecisionVisitsAFewNodesForEachWeight(int tenants, int weights, int nodes) {
    FairShares shares = new FairShares(FairTerms.of(1L << 50, WINDOW));
    shares.roll(WINDOW);
    shares.grant(1L << 50);
    CounterKey[] keys = Keys.tenants(tenants);
    SplittableRandom random = new SplittableRandom(6);
    for (int i = 0; i < tenants; i++) {
      TenantWeight weight = TenantWeight.listed(1 + i % weights);
      shares.charge(keys[i], weight, random.nextLong(1, 1L << 25), Overrun.REFUSE, WINDOW);
    }
    shares.peek(Keys.tenant("new"), TenantWeight.listed(1)); // computes reserves anew
    assertThat(shares.steps()).isBetween(2 * weights, weights * (1 + nodes));
  }

  @Test
  void tenantsThatAreNotSeenAgainAreForgottenWhileOthersAsk() {
    FairShares shares = new FairShares(FairTerms.of(100, WINDOW));
    for (int window = 1; window <= 10; window++) {
      shares.roll(window * WINDOW);
      shares.grant(100);
      for (int i = 0; i < 500; i++) {
        TenantWeight weight = new TenantWeight(1, i % 2 == 0);
        shares.charge(Keys.tenant(window * 1_000 + i), weight, 1, Overrun.REFUSE, WINDOW);
      }
    }
    assertThat(shares.size()).isBetween(1_000, 1_500);
    assertThat(shares.figures().listed() + shares.figures().unlisted()).isEqualTo(1_000);
    assertThat(shares.figures().evicted()).isZero();
  }

  @Test
  void theListOfChangedTenantsDoesNotGrowWithTenantsThatComeAndGo() {
    WeightGroup group = new WeightGroup(TenantWeight.listed(1), new TenantClass(1));
    for (int i = 0; i < 1_000; i++) {
      Tenant tenant = new Tenant(Keys.tenant(i % 3), group, WINDOW);
      group.add(tenant, true);
      group.use(tenant, i);
      if (i >= 3) {
        group.remove(tenant, true);
      }
    }
    assertThat(group.changes()).isLessThan(20);
    group.guarantee(5);
    assertThat(group.reserve()).isEqualTo(5 + 4 + 3);
  }

  @Test
  void threadsThatAskAtOnceAreAdmittedAsMuchAsIsCharged()
      throws InterruptedException, ExecutionException {
    WeightedFairEscrow escrow = new WeightedFairEscrow(FairTerms.of(10_000, WINDOW));
    List<Future<Long>> admitted = new ArrayList<>();
    try (ExecutorService threads = Executors.newFixedThreadPool(4)) {
      for (int thread = 0; thread < 4; thread++) {
        CounterKey key = Keys.tenant(thread);
        TenantWeight weight = TenantWeight.listed(1 + thread);
        admitted.add(
            threads.submit(() -> {
              long sum = 0;
              for (int i = 0; i < 10_000; i++) {
                sum += escrow.tryAcquire(key, weight, 1, 0).admitted() ? 1 : 0;
              }
              return sum;
            }));
      }
    }
    long sum = 0;
    for (Future<Long> one : admitted) {
      sum += one.get();
    }
    assertThat(sum).isEqualTo(escrow.figures(0).used()).isLessThanOrEqualTo(10_000);
    assertThat(sum).isGreaterThan(9_000);
  }
}
