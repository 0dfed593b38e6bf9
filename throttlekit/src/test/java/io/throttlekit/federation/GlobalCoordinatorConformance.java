package io.throttlekit.federation;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.CallId;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.Terms;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The behaviour of every {@link GlobalCoordinator}, with any storage of its budgets. */
public abstract class GlobalCoordinatorConformance extends TermsConformance {
  @Test
  void grantsTheRequestedUnitsWithTheWindowsEnd() {
    assertThat(lease(hundred, "eu", 8)).isEqualTo(new LeaseGrant(8, END, START + 4_000, 92));
    assertThat(lease(hundred, "us", 90)).isEqualTo(new LeaseGrant(90, END, START + 4_000, 2));
  }

  @Test
  void aDuplicateLeaseGetsTheSameGrantOnce() {
    Assumptions.assumeTrue(supportsCallIds());
    assertThat(lease(8, 1)).isEqualTo(new LeaseGrant(8, END, START + 4_000, 92));
    assertThat(lease(8, 1)).isEqualTo(new LeaseGrant(8, END, START + 4_000, 92));
    assertThat(lease(200, 2)).isEqualTo(new LeaseGrant(92, END, START + 4_000, 0));
    assertThat(lease(200, 2)).isEqualTo(new LeaseGrant(92, END, START + 4_000, 0));
    assertThat(coordinator.lease(call(8, 1)).toCompletableFuture())
        .as("a superseded call")
        .failsWithin(Duration.ofMinutes(4));
    clock.advance(6_000);
    assertThat(lease(8, 2))
        .as("in another window")
        .isEqualTo(new LeaseGrant(8, END + WINDOW, END, 92));
  }

  /** Returns whether it recognises repeated calls. */
  protected boolean supportsCallIds() {
    return true;
  }

  private LeaseGrant lease(long units, long number) {
    return coordinator.lease(call(units, number)).toCompletableFuture().join();
  }

  private BudgetLease call(long units, long number) {
    CallId id = new CallId(16, number);
    return new BudgetLease(hundred, "eu", BudgetLease.CURRENT, units, DataLoss.REFILL, id);
  }

  @Test
  void grantsTheRestThenNothing() {
    lease(hundred, "eu", 97);
    assertThat(lease(hundred, "us", 8)).isEqualTo(new LeaseGrant(3, END, START + 4_000, 0));
    assertThat(lease(hundred, "us", 8)).isEqualTo(new LeaseGrant(0, END, START + 4_000, 0));
  }

  @Test
  void everyWindowHasAFullBudget() {
    lease(hundred, "eu", 100);
    clock.advance(5_999);
    assertThat(lease(hundred, "us", 1).units()).isZero();
    clock.advance(1);
    assertThat(lease(hundred, "us", 200)).isEqualTo(new LeaseGrant(100, END + WINDOW, END, 0));
  }

  @Test
  void theNextWindowCanBeLeasedBeforeItBegins() {
    assertThat(leaseOf(hundred, "eu", END + WINDOW, 30))
        .isEqualTo(new LeaseGrant(30, END + WINDOW, START + 4_000, 70));
    assertThat(lease(hundred, "eu", 100).units()).as("of the current window").isEqualTo(100);
    clock.advance(6_000);
    assertThat(lease(hundred, "us", 100)).isEqualTo(new LeaseGrant(70, END + WINDOW, END, 0));
  }

  @ParameterizedTest
  @ValueSource(longs = {END - WINDOW, END - 1, END + 1, END + 2 * WINDOW, Long.MAX_VALUE})
  void otherWindowsGrantNothing(long windowEnd) {
    LeaseGrant grant = leaseOf(hundred, "eu", windowEnd, 8);
    assertThat(grant.units()).isZero();
    assertThat(grant.windowEndMillis()).isEqualTo(windowEnd);
    assertThat(lease(hundred, "eu", 200).units()).isEqualTo(100);
  }

  @Test
  void unitsReturnedWithinTheirWindowAreLeasedAgain() {
    lease(hundred, "eu", 60);
    lease(hundred, "us", 40);
    assertThat(reconcile(hundred, "eu", "1", END, 25)).isTrue();
    assertThat(reconcile(hundred, "us", "1", END, 5)).as("another region's first").isTrue();
    assertThat(lease(hundred, "us", 100).units()).isEqualTo(30);
  }

  @Test
  void aDuplicateReturnCountsOnce() {
    lease(hundred, "eu", 100);
    assertThat(reconcile(hundred, "eu", "x", END, 10)).isTrue();
    assertThat(reconcile(hundred, "eu", "x", END, 10)).isTrue();
    assertThat(reconcile(hundred, "eu", "y", END, 1)).isTrue();
    assertThat(lease(hundred, "us", 100).units()).isEqualTo(11);
  }

  @Test
  void unitsReturnedAfterTheirWindowAreForfeited() {
    lease(hundred, "eu", 100);
    clock.advance(6_000);
    assertThat(reconcile(hundred, "eu", "x", END, 50)).isFalse();
    lease(hundred, "us", 100);
    assertThat(reconcile(hundred, "eu", "y", END, 50)).isFalse();
    assertThat(lease(hundred, "us", 1).units()).isZero();
  }

  @Test
  void unitsOfTheNextWindowCanBeReturnedBeforeItBegins() {
    leaseOf(hundred, "eu", END + WINDOW, 100);
    assertThat(reconcile(hundred, "eu", "x", END + WINDOW, 40)).isTrue();
    clock.advance(6_000);
    assertThat(lease(hundred, "us", 100).units()).isEqualTo(40);
  }

  @Test
  void returningMoreThanLeasedDoesNotEnlargeTheBudget() {
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
  void budgetsOfLongKeysAreTheSameForAllRegions() {
    FixedWindow perWindow = new FixedWindow(100, WINDOW);
    Terms terms = new Terms("shop", List.of(perWindow));
    String user = "a".repeat(58_000);
    Budget one = new Budget(key("shop/10000", user + 1), perWindow, terms);
    Budget other = new Budget(key("shop/10000", user + 2), perWindow, terms);
    assertThat(lease(one, "eu", 60).units()).isEqualTo(60);
    assertThat(lease(one, "us", 60).units()).isEqualTo(40);
    assertThat(lease(other, "us", 60).units()).isEqualTo(60);
    assertThat(reconcile(one, "us", "1", END, 10)).isTrue();
    assertThat(lease(one, "eu", 60).units()).isEqualTo(10);
  }

  @Test
  void aClockStepBackDoesNotRollWindowsBack() {
    clock.advance(6_000);
    lease(hundred, "eu", 70);
    clock.setWall(START + 4_000);
    LeaseGrant after = lease(hundred, "us", 100);
    clock.advance(6_000);
    long again = lease(hundred, "us", 100).units();
    if (after.windowEndMillis() == END + WINDOW) {
      assertThat(after.units() + again).isEqualTo(30);
    } else {
      assertThat(again).isEqualTo(30);
    }
  }

  @Test
  void healthReturnsItsClock() {
    assertThat(coordinator.health().toCompletableFuture().join()).isEqualTo(START + 4_000);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5})
  void noWindowIsLeasedBeyondItsBudget(long seed) {
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
          LeaseGrant grant = leaseOf(hundred, region, end, random.nextLong(1, 40));
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
}
