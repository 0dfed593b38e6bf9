package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Grant;
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

/** What every {@link GlobalCoordinator} does, whatever it keeps its budgets in. */
public abstract class GlobalCoordinatorConformance {
  private static final long WINDOW = 10_000;
  private static final long END = 1_700_000_010_000L;
  private static final long START = END - WINDOW;
  private static final int STEPS = 300;

  private final ManualTime clock = new ManualTime(START + 4_000);
  private final Budget hundred = budget("a", 100, WINDOW);
  private final Budget changed = budget("a", 200, WINDOW);
  private GlobalCoordinator coordinator = new InMemoryCoordinator(clock);

  /** A coordinator without leases whose own clock is {@code clock}'s wall clock. */
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
  void grantsWhatIsWantedAndSaysUntilWhen() {
    assertThat(lease(hundred, "eu", 8)).isEqualTo(new Grant(8, END, START + 4_000, 92));
    assertThat(lease(hundred, "us", 90)).isEqualTo(new Grant(90, END, START + 4_000, 2));
  }

  @Test
  void grantsWhatIsLeftAndThenNothing() {
    lease(hundred, "eu", 97);
    assertThat(lease(hundred, "us", 8)).isEqualTo(new Grant(3, END, START + 4_000, 0));
    assertThat(lease(hundred, "us", 8)).isEqualTo(new Grant(0, END, START + 4_000, 0));
  }

  @Test
  void everyWindowHasAWholeBudget() {
    lease(hundred, "eu", 100);
    clock.advance(5_999);
    assertThat(lease(hundred, "us", 1).units()).isZero();
    clock.advance(1);
    assertThat(lease(hundred, "us", 200)).isEqualTo(new Grant(100, END + WINDOW, END, 0));
  }

  @Test
  void theNextWindowCanBeLeasedBeforeItBegins() {
    assertThat(leaseOf(hundred, "eu", END + WINDOW, 30))
        .isEqualTo(new Grant(30, END + WINDOW, START + 4_000, 70));
    assertThat(lease(hundred, "eu", 100).units()).as("of the window that lasts").isEqualTo(100);
    clock.advance(6_000);
    assertThat(lease(hundred, "us", 100)).isEqualTo(new Grant(70, END + WINDOW, END, 0));
  }

  @ParameterizedTest
  @ValueSource(longs = {END - WINDOW, END - 1, END + 1, END + 2 * WINDOW, Long.MAX_VALUE})
  void noOtherWindowHasAnything(long windowEnd) {
    Grant grant = leaseOf(hundred, "eu", windowEnd, 8);
    assertThat(grant.units()).isZero();
    assertThat(grant.windowEndMillis()).isEqualTo(windowEnd);
    assertThat(lease(hundred, "eu", 200).units()).isEqualTo(100);
  }

  @Test
  void whatComesBackInItsWindowIsLeasedAgain() {
    lease(hundred, "eu", 60);
    lease(hundred, "us", 40);
    assertThat(reconcile(hundred, "eu", "1", END, 25)).isTrue();
    assertThat(reconcile(hundred, "us", "1", END, 5)).as("another region's first").isTrue();
    assertThat(lease(hundred, "us", 100).units()).isEqualTo(30);
  }

  @Test
  void aReturnThatComesTwiceCountsOnce() {
    lease(hundred, "eu", 100);
    assertThat(reconcile(hundred, "eu", "x", END, 10)).isTrue();
    assertThat(reconcile(hundred, "eu", "x", END, 10)).isTrue();
    assertThat(reconcile(hundred, "eu", "y", END, 1)).isTrue();
    assertThat(lease(hundred, "us", 100).units()).isEqualTo(11);
  }

  @Test
  void whatComesBackAfterItsWindowIsForfeited() {
    lease(hundred, "eu", 100);
    clock.advance(6_000);
    assertThat(reconcile(hundred, "eu", "x", END, 50)).isFalse();
    lease(hundred, "us", 100);
    assertThat(reconcile(hundred, "eu", "y", END, 50)).isFalse();
    assertThat(lease(hundred, "us", 1).units()).isZero();
  }

  @Test
  void theNextWindowsLeaseCanComeBackBeforeItBegins() {
    leaseOf(hundred, "eu", END + WINDOW, 100);
    assertThat(reconcile(hundred, "eu", "x", END + WINDOW, 40)).isTrue();
    clock.advance(6_000);
    assertThat(lease(hundred, "us", 100).units()).isEqualTo(40);
  }

  @Test
  void aReturnOfMoreThanWasLeasedMakesNoBudgetLarger() {
    lease(hundred, "eu", 5);
    reconcile(hundred, "eu", "x", END, 50);
    assertThat(lease(hundred, "eu", 200).units()).isEqualTo(100);
  }

  @Test
  void budgetsOfOneDescriptorAreCountedApart() {
    FixedWindow perWindow = new FixedWindow(100, WINDOW);
    FixedWindow perHour = new FixedWindow(500, 3_600_000);
    Terms terms = new Terms("shop", List.of(perWindow, perHour));
    Budget small = new Budget(key("shop/10000", "a"), perWindow, terms);
    Budget large = new Budget(key("shop/3600000", "a"), perHour, terms);
    assertThat(lease(small, "eu", 600).units()).isEqualTo(100);
    assertThat(lease(large, "us", 600).units()).isEqualTo(500);
  }

  @Test
  void regionsThatDoNotAgreeAreBothNamed() {
    lease(hundred, "eu", 10);
    assertThatThrownBy(() -> lease(budget("a", 200, WINDOW), "us", 10))
        .isInstanceOf(TermsMismatchException.class)
        .hasMessageContaining("region us has a budget of 200 per 10000 ms")
        .hasMessageContaining("region eu leased from one of 100 per 10000 ms");
    assertThatThrownBy(() -> lease(budget("a", 100, 60_000), "us", 10))
        .isInstanceOf(TermsMismatchException.class)
        .hasMessageContaining("100 per 60000 ms");
    assertThat(lease(hundred, "us", 100).units()).as("nothing was counted").isEqualTo(90);
    assertThat(lease(budget("b", 200, WINDOW), "us", 10).units()).isEqualTo(10);
  }

  @Test
  void aRegionMayChangeWhatOnlyItHasSaid() {
    lease(hundred, "eu", 10);
    assertThat(lease(budget("a", 50, WINDOW), "eu", 100).units()).isEqualTo(40);
    assertThat(lease(budget("a", 50, WINDOW), "us", 100).units()).isZero();
  }

  @Test
  void whatWasSaidIsForgottenWithItsLastWindow() {
    lease(hundred, "eu", 10);
    leaseOf(hundred, "eu", END + WINDOW, 10);
    clock.advance(6_000 + WINDOW - 1);
    Budget other = budget("a", 200, WINDOW);
    assertThatThrownBy(() -> lease(other, "us", 1)).isInstanceOf(TermsMismatchException.class);
    clock.advance(1);
    assertThat(lease(other, "us", 1_000).units()).isEqualTo(200);
  }

  @Test
  void aChangeInAllRegionsTakesEffectWhenTheLastHasAsked() {
    List<String> regions = List.of("eu", "us", "ap");
    regions.forEach(region -> lease(hundred, region, 10));
    assertRefused(changed, "eu");
    assertRefused(changed, "us");
    assertThat(lease(changed, "ap", 10).units()).as("the last").isEqualTo(10);
    for (String region : regions) {
      assertRefused(hundred, region); // a process that has the old policies still
      for (String other : regions) {
        assertThat(lease(changed, other, 10).units())
            .as("%s, after %s asked by the old terms", other, region)
            .isEqualTo(10);
      }
    }
    assertThat(lease(changed, "eu", 200).units()).as("all counts").isEqualTo(200 - 4 * 30 - 10);
  }

  @Test
  void aRegionAloneWithItsTermsIsRefusedAndHarmsNobody() {
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
      assertThat(lease(hundred, alone, 1).units()).as("%s gives in", alone).isEqualTo(1);
    }
    assertThat(lease(hundred, "eu", 100).units()).as("refusals count nothing").isEqualTo(55);
  }

  @Test
  void aRegionThatGoesBackToTheOldTermsIsGrantedAgainAndHasTakenItsWordBack() {
    lease(hundred, "eu", 10);
    lease(hundred, "us", 10);
    assertRefused(changed, "eu");
    assertThat(lease(hundred, "eu", 10).units()).isEqualTo(10);
    assertRefused(changed, "us");
    assertThat(lease(changed, "eu", 10).units()).as("now that both ask for it").isEqualTo(10);
  }

  @Test
  void aRegionsWordStandsThoughItLeasesNothing() {
    lease(hundred, "eu", 100);
    assertThat(lease(hundred, "us", 10).units()).isZero();
    assertRefused(changed, "us");
    assertThat(lease(hundred, "us", 10).units()).as("that is a word, too").isZero();
    assertRefused(changed, "eu");
  }

  @Test
  void whatAnIdleRegionSaidStandsUntilItsLastWindowEnds() {
    lease(hundred, "eu", 10);
    lease(hundred, "us", 10);
    clock.advance(5_999);
    assertRefused(changed, "eu");
    assertRefused(changed, "eu");
    clock.advance(1);
    assertThat(lease(changed, "eu", 200).units()).isEqualTo(200);
  }

  @Test
  void aWordIsForgottenWithTheTermsOfItsRegion() {
    lease(hundred, "eu", 10);
    leaseOf(hundred, "us", END + WINDOW, 10);
    assertRefused(changed, "eu");
    clock.advance(6_000);
    assertRefused(changed, "eu"); // which stands by nothing now, so its word is of no account
    lease(hundred, "eu", 10);
    assertRefused(changed, "us");
  }

  @Test
  void whoDisagreesIsNamedWithItsLastWord() {
    lease(hundred, "eu", 10);
    lease(hundred, "us", 10);
    assertRefused(budget("a", 300, WINDOW), "us");
    assertThatThrownBy(() -> lease(changed, "eu", 10))
        .hasMessageContaining("region eu has a budget of 200 per 10000 ms")
        .hasMessageContaining(
            "region us leased from one of 100 per 10000 ms and asked for one of 300 per 10000 ms"
                + " last:");
  }

  @Test
  void aChangedWindowBeginsWithNothingCounted() {
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
        Grant grant = lease(wanted, "r" + random.nextInt(3), random.nextLong(1, 8));
        long all = out.merge(grant.windowEndMillis(), grant.units(), Long::sum);
        assertThat(all)
            .as("seed %d step %d", seed, step)
            .isLessThanOrEqualTo(grant.units() == 0 ? 100 : wanted.window().limit());
        changes += newest.equals(wanted) ? 0 : 1;
        newest = wanted;
      } catch (TermsMismatchException _) {
        // its word counts
      }
    }
    assertThat(changes).as("there and back, seed %d", seed).isGreaterThan(3);
    assertThat(out.values()).as("some window was used up, seed %d", seed).contains(100L);
  }

  @Test
  void windowsAreNotRolledBackByAClockThatIs() {
    clock.advance(6_000);
    lease(hundred, "eu", 70);
    clock.setWall(START + 4_000);
    Grant after = lease(hundred, "us", 100);
    clock.advance(6_000);
    long again = lease(hundred, "us", 100).units();
    if (after.windowEndMillis() == END + WINDOW) {
      assertThat(after.units() + again).isEqualTo(30);
    } else {
      assertThat(again).isEqualTo(30);
    }
  }

  @Test
  void saysWhatItsClockIs() {
    assertThat(coordinator.health().toCompletableFuture().join()).isEqualTo(START + 4_000);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void whateverRegionsDoNoWindowIsLeasedBeyondItsBudget(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Map<Long, Long> out = new HashMap<>();
    for (int step = 0; step < STEPS; step++) {
      String region = "r" + random.nextInt(3);
      long now = clock.wallMillis();
      long current = now - Math.floorMod(now, WINDOW) + WINDOW;
      long end = current + WINDOW * (random.nextInt(3) - 1);
      switch (random.nextInt(5)) {
        case 0 -> clock.advance(random.nextLong(4_000));
        case 1 -> {
          long units = Math.min(random.nextLong(1, 20), out.getOrDefault(end, 0L));
          if (units > 0 && reconcile(hundred, region, "s" + step, end, units)) {
            assertThat(end).as("seed %d step %d", seed, step).isGreaterThan(now);
            out.merge(end, -units, Long::sum);
          }
        }
        default -> {
          Grant grant = leaseOf(hundred, region, end, random.nextLong(1, 40));
          out.merge(grant.windowEndMillis(), grant.units(), Long::sum);
          assertThat(grant.left())
              .as("seed %d step %d", seed, step)
              .isIn(0L, 100 - out.getOrDefault(grant.windowEndMillis(), 0L));
        }
      }
      assertThat(out.values()).as("seed %d step %d", seed, step).allMatch(units -> units <= 100);
    }
    assertThat(out.values()).as("some window was used up, seed %d", seed).contains(100L);
  }

  private void assertRefused(Budget budget, String region) {
    assertThatThrownBy(() -> lease(budget, region, 10))
        .as("%s by %s", region, budget.terms().inWords())
        .isInstanceOf(TermsMismatchException.class);
  }

  private Grant lease(Budget budget, String region, long units) {
    return leaseOf(budget, region, BudgetLease.CURRENT, units);
  }

  private Grant leaseOf(Budget budget, String region, long windowEnd, long units) {
    return join(
        coordinator.lease(new BudgetLease(budget, region, windowEnd, units, DataLoss.REFILL)));
  }

  private boolean reconcile(Budget budget, String region, String id, long end, long units) {
    return join(coordinator.reconcile(new BudgetReturn(budget, region, id, end, units)));
  }

  private static Budget budget(String user, long limit, long window) {
    FixedWindow budget = new FixedWindow(limit, window);
    return new Budget(key("shop/" + window, user), budget, new Terms("shop", List.of(budget)));
  }

  private static CounterKey key(String scope, String user) {
    return CounterKey.of(scope, "user", user);
  }

  private static <T> T join(CompletionStage<T> stage) {
    try {
      return stage.toCompletableFuture().join();
    } catch (CompletionException e) {
      throw e.getCause() instanceof RuntimeException cause ? cause : e;
    }
  }
}
