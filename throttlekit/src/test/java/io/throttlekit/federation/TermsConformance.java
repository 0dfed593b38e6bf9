package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.Terms;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The rules by which every {@link GlobalCoordinator} keeps regions to the same terms, and lets them
 * change.
 */
public abstract class TermsConformance {
  static final long WINDOW = 10_000;
  static final long END = 1_700_000_010_000L;
  static final long START = END - WINDOW;
  static final int STEPS = 300;

  final ManualTime clock = new ManualTime(START + 4_000);
  final Budget hundred = budget("a", 100, WINDOW);
  final Budget changed = budget("a", 200, WINDOW);
  GlobalCoordinator coordinator = new InMemoryCoordinator(clock);

  /** Opens a coordinator without leases, with the wall clock of {@code clock}. */
  protected abstract GlobalCoordinator open(ManualTime clock);

  @BeforeEach
  void openCoordinator() {
    coordinator = open(clock);
  }

  @AfterEach
  void closeCoordinator() {
    coordinator.close();
  }

  @Test
  void aMismatchNamesBothRegions() {
    lease(hundred, "eu", 10);
    assertThatThrownBy(() -> lease(budget("a", 200, WINDOW), "us", 10))
        .isInstanceOf(TermsMismatchException.class)
        .hasMessageContaining("region us has a budget of 200 per 10000 ms")
        .hasMessageContaining("region eu leased from one of 100 per 10000 ms");
    assertThatThrownBy(() -> lease(budget("a", 100, 60_000), "us", 10))
        .isInstanceOf(TermsMismatchException.class)
        .hasMessageContaining("100 per 60000 ms");
    assertThat(lease(hundred, "us", 100).units()).as("no unit was counted").isEqualTo(90);
    assertThat(lease(budget("b", 200, WINDOW), "us", 10).units()).isEqualTo(10);
  }

  @Test
  void aSingleRegionMayChangeItsTerms() {
    lease(hundred, "eu", 10);
    assertThat(lease(budget("a", 50, WINDOW), "eu", 100).units()).isEqualTo(40);
    assertThat(lease(budget("a", 50, WINDOW), "us", 100).units()).isZero();
  }

  @Test
  void termsExpireWithTheirLastWindow() {
    lease(hundred, "eu", 10);
    leaseOf(hundred, "eu", END + WINDOW, 10);
    clock.advance(6_000 + WINDOW - 1);
    Budget other = budget("a", 200, WINDOW);
    assertThatThrownBy(() -> lease(other, "us", 1)).isInstanceOf(TermsMismatchException.class);
    clock.advance(1);
    assertThat(lease(other, "us", 1_000).units()).isEqualTo(200);
  }

  @Test
  void aChangeTakesEffectWhenTheLastRegionRequestsIt() {
    List<String> regions = List.of("eu", "us", "ap");
    regions.forEach(region -> lease(hundred, region, 10));
    assertRefused(changed, "eu");
    assertRefused(changed, "us");
    assertThat(lease(changed, "ap", 10).units()).as("the last").isEqualTo(10);
    for (String region : regions) {
      assertRefused(hundred, region); // a process that still has the old policies
      for (String other : regions) {
        if (!other.equals(region)) {
          assertThat(lease(changed, other, 10).units())
              .as("%s, after %s requested the old terms", other, region)
              .isEqualTo(10);
        }
      }
    }
    assertThat(lease(changed, "eu", 200).units()).as("all leases count").isEqualTo(200 - 100);
  }

  @Test
  void aSingleDeviatingRegionIsRefusedWithoutAffectingOthers() {
    List<String> regions = List.of("ap", "eu", "us");
    regions.forEach(region -> lease(hundred, region, 10));
    for (String alone : regions) {
      for (int i = 0; i < 2; i++) {
        assertRefused(changed, alone);
        for (String other : regions) {
          if (!other.equals(alone)) {
            assertThat(lease(hundred, other, 1).units()).as(other).isEqualTo(1);
          }
        }
      }
      assertThat(lease(hundred, alone, 1).units()).as("%s returns to them", alone).isEqualTo(1);
    }
    assertRefused(changed, "sa"); // a region that has never leased
    assertThat(lease(hundred, "eu", 100).units()).as("refusals are not counted").isEqualTo(55);
  }

  @Test
  void aRevertedRegionIsGrantedAgainAndItsRequestWithdrawn() {
    lease(hundred, "eu", 10);
    lease(hundred, "us", 10);
    assertRefused(changed, "eu");
    assertThat(lease(hundred, "eu", 10).units()).isEqualTo(10);
    assertRefused(changed, "us");
    assertThat(lease(changed, "eu", 10).units()).as("now that both request it").isEqualTo(10);
  }

  @Test
  void aLeaseOfZeroUnitsStillStatesTerms() {
    lease(hundred, "eu", 100);
    assertThat(lease(hundred, "us", 10).units()).isZero();
    assertRefused(changed, "us");
    assertThat(lease(hundred, "us", 10).units()).as("which states terms, too").isZero();
    assertRefused(changed, "eu");
  }

  @Test
  void termsOfAnIdleRegionLastUntilItsLastWindowEnds() {
    lease(hundred, "eu", 10);
    lease(hundred, "us", 10);
    clock.advance(5_999);
    assertRefused(changed, "eu");
    assertRefused(changed, "eu");
    clock.advance(1);
    assertThat(lease(changed, "eu", 200).units()).isEqualTo(200);
  }

  @Test
  void requestedTermsExpireWithThoseInEffectOfTheirRegion() {
    lease(hundred, "eu", 10);
    leaseOf(hundred, "us", END + WINDOW, 10);
    assertRefused(changed, "eu");
    clock.advance(6_000);
    // its terms are not in effect any more, so its request has no effect
    assertRefused(changed, "eu");
    lease(hundred, "eu", 10);
    assertRefused(changed, "us");
  }

  @Test
  void changedTermsOfARegionLastUntilItsLastWindowEnds() {
    leaseOf(hundred, "eu", END + WINDOW, 10);
    lease(hundred, "us", 10);
    assertRefused(changed, "eu");
    lease(changed, "us", 10);
    clock.advance(6_000 + WINDOW - 1);
    assertRefused(hundred, "us");
    clock.advance(1);
    assertThat(lease(hundred, "us", 200).units()).isEqualTo(100);
  }

  @Test
  void aMismatchNamesTheLastRequestedTerms() {
    lease(hundred, "eu", 10);
    lease(hundred, "us", 10);
    assertRefused(budget("a", 300, WINDOW), "us");
    assertThatThrownBy(() -> lease(changed, "eu", 10))
        .hasMessageContaining("region eu has a budget of 200 per 10000 ms")
        .hasMessageContaining(
            "region us leased from one of 100 per 10000 ms and requested one of 300 per 10000 ms"
                + " last:");
  }

  @Test
  void aChangedWindowStartsAtZero() {
    lease(hundred, "eu", 60);
    lease(hundred, "us", 40);
    Budget perMinute = budget("a", 70, 60_000);
    assertRefused(perMinute, "eu");
    assertThat(lease(perMinute, "us", 100).units()).isEqualTo(70);
    assertThat(lease(perMinute, "eu", 100).units()).isZero();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void whileProcessesAlternateNoWindowIsLeasedBeyondTheLargerLimit(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Budget sixty = budget("a", 60, WINDOW);
    Map<Long, Long> out = new HashMap<>();
    Budget newest = hundred;
    int changes = 0;
    for (int step = 0; step < STEPS; step++) {
      Budget wanted = random.nextBoolean() ? hundred : sixty;
      if (random.nextInt(40) == 0) {
        clock.advance(2_000);
      }
      try {
        LeaseGrant grant = lease(wanted, "r" + random.nextInt(3), random.nextLong(1, 8));
        long all = out.merge(grant.windowEndMillis(), grant.units(), Long::sum);
        assertThat(all)
            .as("seed %d step %d", seed, step)
            .isLessThanOrEqualTo(grant.units() == 0 ? 100 : wanted.window().limit());
        changes += newest.equals(wanted) ? 0 : 1;
        newest = wanted;
      } catch (TermsMismatchException _) {
        // the refused terms are recorded
      }
    }
    assertThat(changes).as("there and back, seed %d", seed).isGreaterThan(3);
    assertThat(out.values()).as("some window was used up, seed %d", seed).contains(100L);
  }

  final void assertRefused(Budget budget, String region) {
    assertThatThrownBy(() -> lease(budget, region, 10))
        .as("%s by %s", region, budget.terms().inWords())
        .isInstanceOf(TermsMismatchException.class);
  }

  final LeaseGrant lease(Budget budget, String region, long units) {
    return leaseOf(budget, region, BudgetLease.CURRENT, units);
  }

  final LeaseGrant leaseOf(Budget budget, String region, long windowEnd, long units) {
    return join(
        coordinator.lease(new BudgetLease(budget, region, windowEnd, units, DataLoss.REFILL)));
  }

  final boolean reconcile(Budget budget, String region, String id, long end, long units) {
    return join(coordinator.reconcile(new BudgetReturn(budget, region, id, end, units)));
  }

  static Budget budget(String user, long limit, long window) {
    FixedWindow budget = new FixedWindow(limit, window);
    return new Budget(key("shop/" + window, user), budget, new Terms("shop", List.of(budget)));
  }

  static CounterKey key(String scope, String user) {
    return CounterKey.of(scope, "user", user);
  }

  static <T> T join(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }
}
