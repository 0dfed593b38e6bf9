package io.throttlekit.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairDecision;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.fairness.WeightedFairEscrow;
import io.throttlekit.rate.FixedWindow;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The behaviour of every {@link CounterStore} with counters that tenants share. */
public abstract class FairStoreConformance {
  private static final long MINUTE = 60_000;
  private static final long START = 1_700_000_000_000L / MINUTE * MINUTE + 1_000;
  private static final long LIMIT = 100;
  private static final List<Overrun> OVERRUNS = List.of(Overrun.values());

  private final ManualTime clock = new ManualTime(START);
  private final FairTerms terms = FairTerms.of(LIMIT, MINUTE);
  private final CounterKey pool = CounterKey.of("shop|fair_window|60000", "api", "x");
  private CounterStore store = new InMemoryStore(clock, 1);

  /** Opens a store without counters, with the wall clock of {@code clock}. */
  protected abstract CounterStore open(ManualTime clock);

  /** Returns the number of random histories; fewer for a store whose requests take long. */
  protected int seeds() {
    return 40;
  }

  /** Returns the number of requests of a random history. */
  protected int steps() {
    return 250;
  }

  @BeforeEach
  void openStore() {
    store = open(clock);
  }

  @AfterEach
  void closeStore() {
    store.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3, 100})
  void decidesLikeTheEscrowOfOneProcess(int maxTenants) {
    for (int seed = 1; seed <= seeds(); seed++) {
      CounterStore other = open(clock);
      FairTerms bounded = terms.withMaxTenants(maxTenants);
      WeightedFairEscrow escrow = new WeightedFairEscrow(bounded);
      Random random = new Random(seed);
      for (int step = 0; step < steps(); step++) {
        FairTenant tenant = randomTenant(random, bounded);
        long cost = 1 + random.nextLong(random.nextInt(10) == 0 ? 120 : 12);
        Overrun overrun = OVERRUNS.get(random.nextInt(10) == 0 ? random.nextInt(3) : 0);
        FairDecision expected =
            escrow.charge(tenant.key(), tenant.weight(), cost, overrun, clock.wallMillis());
        Decision actual = acquire(other, charge(tenant, cost, overrun)).decisions().getFirst();
        assertThat(actual).as("seed %d, step %d", seed, step).isEqualTo(expected.decision());
        if (random.nextInt(5) == 0) {
          FairTenant back = randomTenant(random, bounded);
          escrow.refund(back.key(), 3, expected.windowEndMillis(), clock.wallMillis());
          acquire(other, charge(back, -3, Overrun.REFUSE));
        }
        if (random.nextInt(30) == 0) {
          clock.advance(random.nextLong(2 * MINUTE));
        }
      }
      other.close();
    }
  }

  @Test
  void leavesNoTraceOfChargesThatDoNotCount() {
    for (int seed = 1; seed <= seeds(); seed++) {
      CounterStore tried = open(clock);
      CounterStore plain = open(clock);
      Random random = new Random(seed);
      for (int step = 0; step < steps(); step++) {
        FairTenant tenant = randomTenant(random, terms);
        Charge one = charge(tenant, 1 + random.nextLong(12), Overrun.REFUSE);
        Charge two = charge(randomTenant(random, terms), 1 + random.nextLong(5), Overrun.REFUSE);
        Charge three = charge(tenant, 2, Overrun.REFUSE);
        // They have asked in both stores.
        acquire(tried, one);
        acquire(plain, one);
        acquire(tried, charge(two, 1));
        acquire(plain, charge(two, 1));
        Outcome refused = acquire(tried, one, two, three, closed());
        assertThat(refused.admitted()).isFalse();
        acquire(plain, charge(one, LIMIT + 1)); // the same tenants, in the same order, for nothing
        acquire(plain, charge(two, LIMIT + 1));
        acquire(plain, charge(three, LIMIT + 1));
        for (int i = 0; i < 6; i++) {
          Charge look = charge(tenant(i, true, terms), 0, Overrun.COUNT);
          assertThat(acquire(tried, look))
              .as("seed %d, step %d", seed, step)
              .isEqualTo(acquire(plain, look));
        }
        if (random.nextInt(30) == 0) {
          clock.advance(random.nextLong(2 * MINUTE));
        }
      }
      tried.close();
      plain.close();
    }
  }

  @Test
  void chargesAllTenantsOfARequestOrNone() {
    FairTenant a = tenant(1, true, terms);
    FairTenant b = tenant(2, true, terms);
    acquire(store, charge(a, 1, Overrun.REFUSE));
    acquire(store, charge(b, 1, Overrun.REFUSE));
    assertThat(remaining(a))
        .isEqualTo(33); // weights 1 and 2: ⌊100 / 3⌋ less 1, and one that rounding leaves
    Outcome outcome = acquire(store, charge(a, 10, Overrun.REFUSE), charge(b, 89, Overrun.REFUSE));
    assertThat(outcome.admitted()).isFalse();
    assertThat(remaining(a)).isEqualTo(33);
    assertThat(acquire(store, charge(a, 10, Overrun.REFUSE), charge(b, 60, Overrun.REFUSE)))
        .extracting(Outcome::admitted)
        .isEqualTo(true);
    assertThat(remaining(a)).isEqualTo(22);
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void decidesTenantsOfARequestInItsOrderAlsoWithANewCounter(boolean known) {
    FairTenant a = tenant(1, true, terms);
    FairTenant b = tenant(5, true, terms);
    Charge open = Charges.charge(new FixedWindow(5, MINUTE), "open", 1);
    acquire(store, charge(a, 1, Overrun.REFUSE));
    if (known) {
      acquire(store, open);
    }
    // Once b is active, a may take 16 units of its own and 17 that are in no reserve.
    assertThat(acquire(store, charge(a, 40, Overrun.REFUSE), charge(b, 1, Overrun.REFUSE), open))
        .extracting(Outcome::admitted)
        .isEqualTo(true);
    assertThat(acquire(store, charge(open, 0)).decisions().getFirst().remaining())
        .isEqualTo(known ? 3 : 4);
  }

  @Test
  void keepsAnOverdraftOfARefusedRequest() {
    FairTenant a = tenant(1, true, terms);
    acquire(store, charge(a, 1, Overrun.REFUSE));
    assertThat(acquire(store, charge(a, 9, Overrun.COUNT), closed()).admitted()).isFalse();
    assertThat(remaining(a)).isEqualTo(90);
  }

  @Test
  void doesNotActivateATenantThatIsOnlyRead() {
    FairTenant a = tenant(1, true, terms);
    FairTenant b = tenant(2, true, terms);
    assertThat(remaining(a)).isEqualTo(LIMIT);
    acquire(store, charge(a, 1, Overrun.REFUSE));
    assertThat(remaining(b)).isEqualTo(66);
    assertThat(remaining(a)).isEqualTo(LIMIT - 1);
  }

  @Test
  void keepsTheReserveOfATenantForOneWindow() {
    FairTenant a = tenant(1, true, terms);
    FairTenant b = tenant(2, true, terms);
    acquire(store, charge(a, 1, Overrun.REFUSE));
    acquire(store, charge(b, 1, Overrun.REFUSE));
    clock.advance(2 * MINUTE - 2_000); // 1 s before the end of the next window
    assertThat(remaining(a)).isEqualTo(34); // its guarantee, and what rounding leaves
    clock.advance(2_000);
    assertThat(remaining(a)).isEqualTo(LIMIT);
  }

  @Test
  void leasesWhatATenantMayTakeNow() {
    FairTenant a = tenant(1, true, terms);
    FairTenant b = tenant(2, true, terms);
    assertThat(lease(b, 10, 1).units()).isEqualTo(10);
    LeaseGrant grant = lease(a, 50, 1);
    assertThat(grant.units()).isEqualTo(34);
    assertThat(grant.left()).isZero();
    assertThat(grant.windowEndMillis()).isEqualTo(START + MINUTE - 1_000);
    assertThat(lease(a, 50, 2).units()).isZero();
    assertThat(lease(b, 100, 2).units()).isEqualTo(56);
  }

  @Test
  void leasesWhatIsLeftAfterTheTenantHasEvictedAnotherOne() {
    FairTerms two = terms.withMaxTenants(2).withUnlistedMillionths(FairTerms.ALL);
    acquire(store, charge(tenant(1, true, two), 1, Overrun.REFUSE));
    acquire(store, charge(tenant(0, false, two), 40, Overrun.REFUSE));
    // With both, 35 units are not reserved; without the evicted one, parts are larger, and 27 are.
    LeaseGrant grant = lease(tenant(2, false, two), 50, 1);
    assertThat(grant.units()).isEqualTo(27);
    assertThat(grant.left()).isZero();
  }

  @Test
  void repeatsALeaseOfATenantOnce() {
    FairTenant a = tenant(1, true, terms);
    FairTenant b = tenant(2, true, terms);
    assertThat(lease(a, 10, 7).units()).isEqualTo(10);
    assertThat(lease(b, 20, 7).units()).isEqualTo(20); // ids are counted for each tenant
    assertThat(lease(a, 10, 7).units()).isEqualTo(10);
    assertThat(remaining(a)).isEqualTo(24);
  }

  @Test
  void returnsUnitsToTheTenantThatLeasedThem() {
    FairTenant a = tenant(1, true, terms);
    FairTenant b = tenant(2, true, terms);
    lease(b, 20, 1);
    LeaseGrant grant = lease(a, 30, 1);
    await(store.returnUnits(request(a, 30, 2), grant.windowEndMillis(), 12));
    assertThat(remaining(a)).isEqualTo(16);
    assertThat(remaining(b)).isEqualTo(46); // 66 − 20
    await(store.returnUnits(request(a, 30, 2), grant.windowEndMillis(), 12));
    assertThat(remaining(a)).isEqualTo(16);
    clock.advance(MINUTE);
    lease(a, 5, 3);
    await(store.returnUnits(request(a, 30, 4), grant.windowEndMillis(), 12));
    assertThat(remaining(a)).isEqualTo(29);
  }

  @Test
  void activatesATenantWhoseLeaseIsRefused() {
    FairTenant a = tenant(1, true, terms);
    FairTenant b = tenant(2, true, terms);
    assertThat(lease(b, LIMIT, 1).units()).isEqualTo(LIMIT);
    assertThat(lease(a, 10, 1).units()).isZero();
    clock.advance(MINUTE);
    assertThat(lease(b, LIMIT, 2).units()).isEqualTo(66);
  }

  @Test
  void resetsATenantOrThePool() {
    FairTenant a = tenant(1, true, terms);
    FairTenant b = tenant(2, true, terms);
    acquire(store, charge(a, 20, Overrun.REFUSE));
    acquire(store, charge(b, 20, Overrun.REFUSE));
    await(store.resetTenant(pool, a));
    assertThat(remaining(b)).isEqualTo(80);
    await(store.reset(pool, new FixedWindow(LIMIT, MINUTE)));
    assertThat(remaining(b)).isEqualTo(LIMIT);
  }

  @Test
  void followsALimitThatChanges() {
    acquire(store, charge(tenant(1, true, terms), 20, Overrun.REFUSE));
    assertThat(remaining(tenant(1, true, FairTerms.of(50, MINUTE)))).isEqualTo(30);
    assertThat(remaining(tenant(1, true, FairTerms.of(200, MINUTE)))).isEqualTo(180);
  }

  private FairTenant randomTenant(Random random, FairTerms of) {
    return tenant(random.nextInt(6), random.nextInt(4) > 0, of);
  }

  private static FairTenant tenant(int name, boolean listed, FairTerms of) {
    CounterKey key = CounterKey.of("shop|tenants|60000", "api", "x", "org", "t" + name);
    return new FairTenant(key, new TenantWeight(Math.max(1, name), listed), of);
  }

  private Charge charge(FairTenant tenant, long cost, Overrun overrun) {
    FixedWindow window = new FixedWindow(tenant.terms().limit(), MINUTE);
    return new Charge(pool, window, cost, overrun, tenant);
  }

  private static Charge charge(Charge like, long cost) {
    return new Charge(like.key(), like.algorithm(), cost, Overrun.REFUSE, like.tenant());
  }

  /** Returns a charge that is always refused. */
  private static Charge closed() {
    return Charges.charge(new FixedWindow(0, MINUTE), "closed", 1);
  }

  private long remaining(FairTenant tenant) {
    return acquire(store, charge(tenant, 0, Overrun.COUNT)).decisions().getFirst().remaining();
  }

  private LeaseRequest request(FairTenant tenant, long units, long number) {
    FixedWindow window = new FixedWindow(LIMIT, MINUTE);
    return new LeaseRequest(pool, window, units, DataLoss.REFILL, new CallId(5, number)).of(tenant);
  }

  private LeaseGrant lease(FairTenant tenant, long units, long number) {
    return await(store.lease(request(tenant, units, number)));
  }

  private static Outcome acquire(CounterStore at, Charge... charges) {
    List<Claim> claims = new ArrayList<>();
    for (Charge charge : charges) {
      claims.add(new Claim(Claim.Role.ENFORCED, List.of(charge)));
    }
    return await(at.acquire(claims));
  }

  private static <T> T await(CompletionStage<T> stage) {
    return stage.toCompletableFuture().join();
  }
}
