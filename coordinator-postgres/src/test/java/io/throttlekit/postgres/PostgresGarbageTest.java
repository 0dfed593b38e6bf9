package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.federation.GlobalCoordinator;
import io.throttlekit.federation.InMemoryCoordinator;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.ShareGrant.Status;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the deletion of expired rows. */
@RealPostgres
class PostgresGarbageTest {
  private static final long START = 1_700_000_000_000L;
  private static final long EVERY = 7_000;
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final ManualTime clock = new ManualTime(START);
  private final FixedWindow window = new FixedWindow(5, 10_000);
  private final RecordingListener listener = new RecordingListener();
  private final Queue<Runnable> due = new ConcurrentLinkedQueue<>();
  private final Scheduler timer =
      (nanos, task) -> {
        if (nanos == EVERY * 1_000_000) {
          due.add(task);
        } else {
          TestSurroundings.TIMER.runAfter(nanos, task);
        }
      };

  @BeforeEach
  void empty() {
    database.empty();
  }

  @Test
  void unusedCountersAreDeletedOnlyAfterASlack() {
    try (PostgresCounterStore store = new PostgresCounterStore(settings(), around())) {
      charge(store, "a");
      clock.advance(15_000);
      collect();
      assertThat(count("counters")).as("a clock may step back a little").isEqualTo("1");
      clock.advance(60_000);
      charge(store, "b");
      collect();
      assertThat(count("counters")).isEqualTo("1");
      assertThat(charge(store, "b")).as("used counters are kept").isEqualTo(3);
    }
  }

  @Test
  void tenantsAreDeletedSomeTimeAfterTheNextWindowAndThoseInUseAreKept() {
    FairTerms terms = FairTerms.of(5, window.windowMillis());
    try (PostgresCounterStore store = new PostgresCounterStore(settings(), around())) {
      charge(store, tenant(terms, "a"));
      clock.advance(10_000);
      charge(store, tenant(terms, "b"));
      clock.advance(9_999); // the end of the window in which b was seen
      collect();
      assertThat(count("tenants")).as("a may be active").isEqualTo("2");
      clock.advance(60_002);
      charge(store, tenant(terms, "c"));
      collect();
      assertThat(count("tenants")).as("but for b, a clock may step back").isEqualTo("2");
      clock.advance(200_000);
      collect();
      assertThat(count("tenants") + count("counters")).isEqualTo("00");
    }
  }

  private void charge(PostgresCounterStore store, FairTenant tenant) {
    CounterKey key = CounterKey.of("shop|fair_window", "user", "x");
    Charge charge = new Charge(key, window, 1, Overrun.REFUSE, tenant);
    answer(store.acquire(List.of(new Claim(Claim.Role.ENFORCED, List.of(charge)))));
  }

  private static FairTenant tenant(FairTerms terms, String name) {
    CounterKey key = CounterKey.of("shop|tenants", "user", "x", "org", name);
    return new FairTenant(key, TenantWeight.listed(1), terms);
  }

  @Test
  void aLockedCounterIsLeftForTheNextRun() throws SQLException {
    try (PostgresCounterStore store = new PostgresCounterStore(settings(), around());
        Connection holder = database.connect();
        Statement sql = holder.createStatement()) {
      charge(store, "a");
      charge(store, "b");
      clock.advance(100_000);
      holder.setAutoCommit(false);
      sql.execute("SELECT FROM throttlekit.counters ORDER BY name LIMIT 1 FOR UPDATE");
      collect();
      assertThat(count("counters")).isEqualTo("1");
      holder.rollback();
      collect();
      assertThat(count("counters")).isEqualTo("0");
    }
  }

  @Test
  void aRunIsOfManySmallTransactionsAndBounded() {
    try (PostgresCounterStore store = new PostgresCounterStore(settings(), around())) {
      charge(store, "a");
      int most = Garbage.BATCH * Garbage.BATCHES;
      database.run(
          "INSERT INTO throttlekit.counters (name, state, kept_until_millis)"
              + " SELECT int8send(i), '\\x01', 1 FROM generate_series(1, %d) i"
                  .formatted(most + 700));
      collect();
      assertThat(listener.collected).hasValue(most);
      collect();
      assertThat(count("counters")).isEqualTo("1");
    }
  }

  @Test
  void windowsAgreementsAndReturnsExpireWithTheirWindowAndPartiesLater() {
    Budget budget = StoreCalls.budget(window, "a");
    try (PostgresGlobalCoordinator coordinator =
        new PostgresGlobalCoordinator(settings(), around())) {
      long end = answer(coordinator.lease(StoreCalls.wish(budget, "eu", 5))).windowEndMillis();
      answer(coordinator.reconcile(new BudgetReturn(budget, "eu", "x", end, 1)));
      clock.setWall(end + Garbage.SLACK_MILLIS);
      collect();
      assertThat(count("windows") + count("returns") + count("agreements")).isEqualTo("111");
      clock.advance(1);
      collect();
      assertThat(count("windows") + count("returns") + count("agreements")).isEqualTo("000");
      assertThat(count("parties")).as("no window is rolled back").isEqualTo("1");
      clock.advance(24 * 3_600_000);
      collect();
      assertThat(count("parties")).isEqualTo("0");
    }
  }

  @Test
  void poolsOfABudgetAndTheirTenantsAreKeptForTheNextWindow() {
    Budget budget = StoreCalls.budget(window, "a");
    FairTenant tenant = tenant(FairTerms.of(5, window.windowMillis()), "a");
    try (PostgresGlobalCoordinator coordinator =
        new PostgresGlobalCoordinator(settings(), around())) {
      long current = BudgetLease.CURRENT;
      answer(
          coordinator.lease(
              new BudgetLease(budget, "eu", current, 1, DataLoss.REFILL, null, tenant)));
      clock.setWall(START + 20_000 + Garbage.SLACK_MILLIS);
      collect();
      assertThat(count("budget_pools") + count("budget_tenants")).isEqualTo("11");
      clock.advance(10_001); // a tenant may be active in the next window without a row of its own
      collect();
      assertThat(count("budget_pools") + count("budget_tenants")).isEqualTo("00");
    }
  }

  @Test
  void aTenantEvictedFromABudgetStaysEvicted() {
    Budget budget = StoreCalls.budget(window, "a");
    FairTerms two = FairTerms.of(5, window.windowMillis()).withMaxTenants(2);
    try (PostgresGlobalCoordinator stored = new PostgresGlobalCoordinator(settings(), around());
        GlobalCoordinator memory = new InMemoryCoordinator(clock)) {
      for (String each : List.of("a", "b", "next window", "c", "d", "e", "f")) {
        if (each.equals("next window")) {
          clock.advance(window.windowMillis());
        } else {
          TenantWeight weight = TenantWeight.listed(each.charAt(0));
          FairTenant tenant = new FairTenant(tenant(two, each).key(), weight, two);
          BudgetLease lease =
              new BudgetLease(budget, "eu", BudgetLease.CURRENT, 1, DataLoss.REFILL, null, tenant);
          assertThat(answer(stored.lease(lease))).as(each).isEqualTo(answer(memory.lease(lease)));
        }
        collect();
      }
      assertThat(count("budget_tenants WHERE window_end_millis < 0"))
          .as("a to d are marked in the second window")
          .isEqualTo("4");
    }
  }

  @Test
  void unitsOfAnEscrowAreDeletedTogetherWithItsRefills() {
    CounterKey key = StoreCalls.key(window, "a");
    try (PostgresRegionalEscrow escrow = new PostgresRegionalEscrow(settings(), around())) {
      answer(escrow.refill(new EscrowRefill(key, "1", START, START, START + 10_000, 8)));
      clock.advance(10_000 + Garbage.SLACK_MILLIS);
      collect();
      assertThat(count("escrow") + count("refills")).isEqualTo("11");
      clock.advance(1);
      collect();
      assertThat(count("escrow") + count("refills")).isEqualTo("00");
    }
  }

  @Test
  void abandonedLimitsAreDeletedTogetherWithTheirNodes() {
    try (PostgresConcurrencyCoordinator coordinator =
        new PostgresConcurrencyCoordinator(settings(), Coordination.DEFAULT, around())) {
      Heartbeats.beat(coordinator, "a", 1);
      clock.advance(3_600_000);
      collect();
      assertThat(count("fleets") + count("fleet_nodes")).as("an hour later").isEqualTo("11");
      clock.advance(1 + Garbage.SLACK_MILLIS);
      collect();
      assertThat(count("fleets") + count("fleet_nodes")).isEqualTo("00");
    }
  }

  @Test
  void usedLimitsAreKept() {
    try (PostgresConcurrencyCoordinator coordinator =
        new PostgresConcurrencyCoordinator(settings(), Coordination.DEFAULT, around())) {
      for (int i = 1; i <= 10; i++) {
        assertThat(Heartbeats.beat(coordinator, "a", i).status()).isEqualTo(Status.MEMBER);
        clock.advance(Heartbeats.LEASE_MILLIS);
        collect();
      }
    }
  }

  /** Runs the timer once, until it is scheduled again. */
  private void collect() {
    StoreCalls.await("scheduled", () -> due.size() == 1);
    due.remove().run();
    StoreCalls.await("done", () -> due.size() == 1);
  }

  private long charge(PostgresCounterStore store, String user) {
    return answer(store.acquire(List.of(StoreCalls.claim(window, user, 1, DataLoss.REFILL))))
        .decisions()
        .getFirst()
        .remaining();
  }

  private static String count(String table) {
    return database.query("SELECT count(*) FROM throttlekit." + table);
  }

  private static PostgresSettings settings() {
    return Wanted.of(database.url()).collectEvery(EVERY).settings();
  }

  private Database.Surroundings around() {
    return new Database.Surroundings(TimeSource.system(), timer, listener, clock);
  }
}
