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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The behaviour of every {@link GlobalCoordinator} with budgets that tenants share. */
public abstract class FairCoordinatorConformance {
  private static final long WINDOW = 10_000;
  private static final long END = 1_700_000_010_000L;
  private static final long START = END - WINDOW;
  private static final long NEXT = END + WINDOW;
  private static final long LIMIT = 100;
  private static final int STEPS = 300;
  private static final List<String> REGIONS = List.of("eu", "us", "ap");

  private final ManualTime clock = new ManualTime(START + 4_000);
  private final FairTerms terms = FairTerms.of(LIMIT, WINDOW);
  private final Budget budget = budget();
  private final FairTenant a = tenant("a", 1);
  private final FairTenant b = tenant("b", 2);
  private GlobalCoordinator coordinator = new InMemoryCoordinator(clock);

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
  void aTenantAloneMayLeaseTheWholeBudget() {
    LeaseGrant grant = lease("eu", a, 60);
    assertThat(grant.units()).isEqualTo(60);
    assertThat(grant.windowEndMillis()).isEqualTo(END);
    assertThat(grant.storeNowMillis()).isEqualTo(START + 4_000);
    assertThat(grant.left()).isEqualTo(40);
    assertThat(lease("us", a, 60).units()).isEqualTo(40);
    assertThat(lease("us", a, 1).units()).isZero();
  }

  @Test
  void grantsWhatATenantMayTakeNow() {
    assertThat(lease("eu", b, 10).units()).isEqualTo(10);
    LeaseGrant grant = lease("us", a, 50);
    assertThat(grant.units()).as("its guarantee, and one unit more").isEqualTo(34);
    assertThat(grant.left()).isZero();
    assertThat(lease("ap", b, 100).units()).isEqualTo(56);
    assertThat(lease("eu", b, 100).units()).isZero();
  }

  @Test
  void grantsWhatIsLeftAfterTheTenantHasEvictedAnotherOne() {
    FairTerms two = terms.withMaxTenants(2).withUnlistedMillionths(FairTerms.ALL);
    lease("eu", ofTerms(tenant("listed", 1), two), 1);
    lease("us", ofTerms(tenant("evicted", 1, false), two), 40);
    assertThat(lease("ap", ofTerms(tenant("c", 2, false), two), 50).units()).isEqualTo(27);
  }

  @Test
  void aGuaranteeHoldsWhileOthersLeaseInEveryRegion() {
    lease("eu", a, 1);
    lease("eu", b, 1);
    clock.advance(6_000);
    for (int i = 0; i < 30; i++) {
      lease(REGIONS.get(i % REGIONS.size()), b, 7);
    }
    LeaseGrant late = lease("ap", a, 100);
    assertThat(late.windowEndMillis()).isEqualTo(NEXT);
    assertThat(late.units()).isEqualTo(33);
  }

  @Test
  void aTenantHasNoReserveAfterAWindowWithoutALease() {
    lease("eu", a, 1);
    lease("eu", b, 1);
    clock.advance(6_000);
    lease("eu", a, 1);
    clock.advance(WINDOW);
    assertThat(lease("us", a, 200).units()).isEqualTo(LIMIT);
  }

  @Test
  void aTenantWhoseLeaseIsRefusedIsActive() {
    lease("eu", b, LIMIT);
    assertThat(lease("us", a, 10).units()).isZero();
    clock.advance(6_000);
    assertThat(lease("eu", b, LIMIT).units()).isEqualTo(66);
  }

  @Test
  void tenantsOfThisWindowHaveTheirReserveInTheNextBeforeItBegins() {
    lease("eu", a, 1);
    lease("eu", b, 1);
    assertThat(leaseOf("us", b, NEXT, 100).units()).isEqualTo(66);
    assertThat(leaseOf("ap", a, NEXT, 100).units()).isEqualTo(33);
    assertThat(lease("eu", b, 100).units()).as("of this window").isEqualTo(65);
  }

  @Test
  void aTenantThatComesAfterTheFirstLeaseAheadHasItsReserveThere() {
    assertThat(leaseOf("us", b, NEXT, 10).units()).isEqualTo(10);
    lease("eu", a, 1);
    assertThat(leaseOf("us", b, NEXT, 100).units()).isEqualTo(56);
    clock.advance(6_000);
    LeaseGrant rest = lease("us", b, 100);
    assertThat(rest.windowEndMillis())
        .as("the same window, now that it is current")
        .isEqualTo(NEXT);
    assertThat(rest.units()).as("what rounding leaves").isEqualTo(1);
    assertThat(lease("ap", a, 100).units()).isEqualTo(33);
  }

  @Test
  void returnedUnitsAreTheTenantsAtOnceInAllRegions() {
    lease("eu", a, 1);
    lease("eu", b, 66);
    assertThat(reconcile("eu", b, "1", END, 20)).isTrue();
    assertThat(lease("us", a, 100).units()).as("not of another's guarantee").isEqualTo(32);
    assertThat(lease("ap", b, 100).units()).isEqualTo(20);
  }

  @Test
  void returnedUnitsBeyondTheGuaranteeAreAnyones() {
    lease("eu", a, LIMIT);
    assertThat(lease("us", b, 100).units()).as("it comes late").isZero();
    assertThat(reconcile("eu", a, "1", END, 60)).isTrue();
    assertThat(lease("us", b, 100).units()).isEqualTo(60);
    assertThat(reconcile("eu", a, "2", END, 20)).isTrue();
    assertThat(lease("us", b, 100).units()).as("to its guarantee, and one more").isEqualTo(7);
    assertThat(lease("us", a, 100).units()).as("to its guarantee").isEqualTo(13);
  }

  @Test
  void aRepeatedReturnCountsOnce() {
    lease("eu", a, LIMIT);
    assertThat(reconcile("eu", a, "x", END, 10)).isTrue();
    assertThat(reconcile("eu", a, "x", END, 10)).isTrue();
    assertThat(reconcile("us", a, "x", END, 1)).as("another region's").isTrue();
    assertThat(lease("us", a, 100).units()).isEqualTo(11);
  }

  @Test
  void returningMoreThanATenantLeasedReturnsNothingOfOthers() {
    lease("eu", b, 60);
    lease("eu", a, 5);
    assertThat(reconcile("eu", a, "x", END, 50)).isTrue();
    assertThat(lease("us", a, 100).units()).isEqualTo(33);
    assertThat(lease("us", b, 100).units()).isEqualTo(6);
  }

  @Test
  void unitsReturnedAfterTheirWindowAreForfeited() {
    lease("eu", a, LIMIT);
    clock.advance(6_000);
    assertThat(reconcile("eu", a, "x", END, 50)).isFalse();
    lease("us", a, LIMIT);
    assertThat(reconcile("eu", a, "y", END, 50)).isFalse();
    assertThat(lease("us", a, 1).units()).isZero();
  }

  @Test
  void unitsOfTheNextWindowCanBeReturnedBeforeItBegins() {
    leaseOf("eu", a, NEXT, LIMIT);
    assertThat(reconcile("eu", a, "x", NEXT, 40)).isTrue();
    clock.advance(6_000);
    assertThat(lease("us", a, 100).units()).isEqualTo(40);
  }

  @Test
  void aRepeatedLeaseOfATenantCountsOnce() {
    assertThat(lease(a, 10, 7)).isEqualTo(10);
    assertThat(lease(b, 20, 7)).as("ids are counted for each tenant").isEqualTo(20);
    assertThat(lease(a, 10, 7)).isEqualTo(10);
    assertThat(lease(a, 100, 8)).isEqualTo(24);
    assertThat(lease(b, 100, 8)).isEqualTo(46);
  }

  @Test
  void followsAWeightThatChanges() {
    lease("eu", a, 20);
    lease("eu", b, 10);
    FairTenant heavier = tenant("a", 6);
    assertThat(lease("eu", heavier, 100).units()).as("75 in all").isEqualTo(55);
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void grantsLikeTheCoordinatorInMemoryAndNeverMoreThanTheBudget(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    GlobalCoordinator expected = new InMemoryCoordinator(clock);
    Map<Long, Map<FairTenant, Long>> out = new HashMap<>();
    boolean usedUp = false;
    for (int step = 0; step < STEPS; step++) {
      String at = "seed %d step %d".formatted(seed, step);
      String region = REGIONS.get(random.nextInt(REGIONS.size()));
      int name = random.nextInt(6);
      FairTenant tenant = tenant("t" + name, 1L + name / 2, name % 3 > 0);
      long now = clock.wallMillis();
      long end = now - Math.floorMod(now, WINDOW) + WINDOW * (1 + random.nextInt(2));
      Map<FairTenant, Long> leased = out.computeIfAbsent(end, _ -> new HashMap<>());
      switch (random.nextInt(6)) {
        case 0 -> clock.advance(random.nextLong(2_000));
        case 1 -> {
          long units = Math.min(random.nextLong(1, 20), leased.getOrDefault(tenant, 0L));
          if (units > 0) {
            BudgetReturn back = new BudgetReturn(budget, region, "s" + step, end, units, tenant);
            assertThat(join(coordinator.reconcile(back)))
                .as(at)
                .isEqualTo(join(expected.reconcile(back)));
            leased.merge(tenant, -units, Long::sum);
          }
        }
        default -> {
          BudgetLease lease = request(region, tenant, end, random.nextLong(1, 40), null);
          LeaseGrant grant = join(coordinator.lease(lease));
          LeaseGrant same = join(expected.lease(lease));
          assertThat(List.of(grant.units(), grant.left(), grant.windowEndMillis()))
              .as(at)
              .isEqualTo(List.of(same.units(), same.left(), end));
          leased.merge(tenant, grant.units(), Long::sum);
        }
      }
      long all = leased.values().stream().mapToLong(units -> units).sum();
      assertThat(all).as(at).isLessThanOrEqualTo(LIMIT);
      usedUp |= all == LIMIT;
    }
    assertThat(usedUp).as("some window was used up, seed %d", seed).isTrue();
  }

  private static Budget budget() {
    FixedWindow window = new FixedWindow(LIMIT, WINDOW);
    CounterKey pool = CounterKey.of("shop/fair/" + WINDOW, "api", "x");
    return new Budget(pool, window, new Terms("shop", List.of(window)));
  }

  private FairTenant tenant(String name, long weight) {
    return tenant(name, weight, true);
  }

  private FairTenant tenant(String name, long weight, boolean listed) {
    CounterKey key = CounterKey.of("shop/tenants/" + WINDOW, "api", "x", "org", name);
    return new FairTenant(key, new TenantWeight(weight, listed), terms);
  }

  private static FairTenant ofTerms(FairTenant tenant, FairTerms other) {
    return new FairTenant(tenant.key(), tenant.weight(), other);
  }

  private LeaseGrant lease(String region, FairTenant tenant, long units) {
    return leaseOf(region, tenant, BudgetLease.CURRENT, units);
  }

  private LeaseGrant leaseOf(String region, FairTenant tenant, long windowEnd, long units) {
    return join(coordinator.lease(request(region, tenant, windowEnd, units, null)));
  }

  private long lease(FairTenant tenant, long units, long number) {
    CallId id = new CallId(16, number);
    return join(coordinator.lease(request("eu", tenant, BudgetLease.CURRENT, units, id))).units();
  }

  private BudgetLease request(
      String region, FairTenant tenant, long windowEnd, long units, @Nullable CallId id) {
    return new BudgetLease(budget, region, windowEnd, units, DataLoss.REFILL, id, tenant);
  }

  private boolean reconcile(String region, FairTenant tenant, String id, long end, long units) {
    return join(coordinator.reconcile(new BudgetReturn(budget, region, id, end, units, tenant)));
  }

  private static <T> T join(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }
}
