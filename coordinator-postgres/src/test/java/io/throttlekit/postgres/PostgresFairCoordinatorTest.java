package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.InMemoryCoordinator;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.CallId;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Budgets that tenants share: evictions, several processes, and round trips. */
@RealPostgres
class PostgresFairCoordinatorTest {
  private static final long WINDOW = 10_000;
  private static final long LIMIT = 100;
  private static final int STEPS = 200;
  private static final int PROCESSES = 3;
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final RecordingListener listener = new RecordingListener();
  private final ManualTime clock = new ManualTime(1_700_000_000_000L);

  @BeforeEach
  void empty() {
    database.empty();
  }

  @Test
  void grantsAsInMemoryWhileTenantsAreEvicted() {
    compare(1, 4);
  }

  @Test
  @Tag("thorough")
  void grantsAsInMemoryWhileTenantsAreEvictedInManyHistories() {
    compare(100, 200);
  }

  private void compare(int first, int last) {
    try (GlobalCoordinator stored =
        new PostgresGlobalCoordinator(
            Wanted.of(database.url()).connections(1).settings(), TestSurroundings.clock(clock))) {
      for (int seed = first; seed <= last; seed++) {
        compare(stored, seed);
      }
    }
    assertThat(database.query("SELECT count(*) FROM throttlekit.budget_tenants WHERE used = 0"))
        .as("evicted or refused")
        .isNotEqualTo("0");
  }

  private void compare(GlobalCoordinator stored, int seed) {
    SplittableRandom random = new SplittableRandom(seed);
    GlobalCoordinator memory = new InMemoryCoordinator(clock);
    Budget budget = StoreCalls.budget(new FixedWindow(LIMIT, WINDOW), "seed" + seed);
    FairTerms terms = FairTerms.of(LIMIT, WINDOW).withMaxTenants(2 + random.nextInt(4));
    BudgetLease leased = null;
    LeaseGrant granted = null;
    for (int step = 0; step < STEPS; step++) {
      String at = "seed %d, step %d".formatted(seed, step);
      int name = random.nextInt(7);
      long weight = random.nextInt(8) == 0 ? random.nextInt(1, 4) : 1 + name % 3;
      FairTenant tenant =
          tenant("seed" + seed, "t" + name, new TenantWeight(weight, name % 3 > 0), terms);
      switch (random.nextInt(8)) {
        case 0 -> clock.advance(random.nextLong(WINDOW / 2));
        case 1 -> {
          if (leased != null && granted != null && granted.units() > 0) {
            BudgetReturn back =
                new BudgetReturn(
                    budget,
                    "eu",
                    "s" + step,
                    granted.windowEndMillis(),
                    random.nextLong(1, granted.units() + 1),
                    leased.tenant());
            for (int copy = random.nextInt(2); copy >= 0; copy--) {
              assertThat(answer(stored.reconcile(back)))
                  .as(at)
                  .isEqualTo(answer(memory.reconcile(back)));
            }
            leased = null;
          }
        }
        case 2 -> {
          long now = clock.wallMillis();
          if (leased != null && leased.windowEndMillis() > now) {
            assertThat(answer(stored.lease(leased))).as(at).isEqualTo(answer(memory.lease(leased)));
          }
        }
        default -> {
          long now = clock.wallMillis();
          long ahead = random.nextInt(3) == 0 ? 1 : 0;
          long end = now - Math.floorMod(now, WINDOW) + WINDOW * (1 + ahead);
          CallId id = new CallId(7, 1 + step);
          leased =
              new BudgetLease(
                  budget, "eu", end, random.nextLong(1, 40), DataLoss.REFILL, id, tenant);
          granted = answer(memory.lease(leased));
          assertThat(answer(stored.lease(leased))).as(at).isEqualTo(granted);
        }
      }
    }
    memory.close();
  }

  @Test
  void concurrentRegionsNeverExceedTheBudgetOrDeadlock() {
    FixedWindow window = new FixedWindow(300, StoreCalls.FIVE.windowMillis());
    Budget budget = StoreCalls.budget(window, "a");
    FairTerms terms = FairTerms.of(300, window.windowMillis());
    SplittableRandom random = new SplittableRandom(1);
    List<PostgresGlobalCoordinator> all = new ArrayList<>();
    for (int i = 0; i < PROCESSES; i++) {
      all.add(
          new PostgresGlobalCoordinator(
              Wanted.of(database.url()).settings(), TestSurroundings.notifying(listener)));
    }
    AtomicLong units = new AtomicLong();
    List<CompletableFuture<?>> asked = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      FairTenant tenant = tenant("a", "t" + random.nextInt(5), TenantWeight.listed(1), terms);
      BudgetLease lease =
          new BudgetLease(
              budget,
              "r" + i % 4,
              BudgetLease.CURRENT,
              random.nextLong(1, 9),
              DataLoss.REFILL,
              null,
              tenant);
      asked.add(
          all.get(i % PROCESSES)
              .lease(lease)
              .thenAccept(grant -> units.addAndGet(grant.units()))
              .toCompletableFuture());
    }
    asked.forEach(StoreCalls::answer);
    all.forEach(PostgresGlobalCoordinator::close);
    assertThat(units.get()).isEqualTo(300);
    assertThat(database.query("SELECT sum(used) FROM throttlekit.budget_tenants")).isEqualTo("300");
    assertThat(database.query("SELECT leased FROM throttlekit.windows")).isEqualTo("300");
    assertThat(listener.failures).as("%s", listener.reasons).isEmpty();
    assertThat(listener.triedAgain).as("deadlocks").hasValue(0);
  }

  private static FairTenant tenant(String user, String name, TenantWeight weight, FairTerms terms) {
    CounterKey key = CounterKey.of("shop|tenants", "user", user, "org", name);
    return new FairTenant(key, weight, terms);
  }
}
