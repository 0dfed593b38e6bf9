package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.CallId;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several processes, and round trips, of counters that tenants share. */
@RealPostgres
class PostgresFairStoreTest {
  private static final int PROCESSES = 3;
  private static final int TENANTS = 6;
  private static final long LIMIT = 300;
  private static final long WINDOW = StoreCalls.FIVE.windowMillis();
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final RecordingListener listener = new RecordingListener();
  private final FairTerms terms = FairTerms.of(LIMIT, WINDOW);

  @BeforeEach
  void empty() {
    database.empty();
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void concurrentProcessesNeverExceedThePoolOrDeadlock(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    List<PostgresCounterStore> stores = new ArrayList<>();
    for (int i = 0; i < PROCESSES; i++) {
      stores.add(
          new PostgresCounterStore(
              Wanted.of(database.url()).settings(), TestSurroundings.notifying(listener)));
    }
    AtomicLong[] used = Stream.generate(AtomicLong::new).limit(2).toArray(AtomicLong[]::new);
    List<CompletableFuture<?>> asked = new ArrayList<>();
    for (int i = 0; i < 500; i++) {
      PostgresCounterStore store = stores.get(i % PROCESSES);
      int pool = random.nextInt(2);
      FairTenant one = tenant("t" + random.nextInt(TENANTS));
      FairTenant two = tenant("t" + random.nextInt(TENANTS));
      long cost = random.nextLong(1, 5);
      CompletionStage<Long> call =
          random.nextInt(4) == 0
              ? store.lease(lease(pool, one, 5, i)).thenApply(grant -> grant.units())
              // In any order: both requests lock the rows of both pools.
              : store
                  .acquire(List.of(charge(pool, one, cost), charge(1 - pool, two, 1)))
                  .thenApply(outcome -> {
                    used[1 - pool].addAndGet(outcome.admitted() ? 1 : 0);
                    return outcome.admitted() ? cost : 0;
                  });
      asked.add(call.thenAccept(used[pool]::addAndGet).toCompletableFuture());
    }
    asked.forEach(StoreCalls::answer);
    for (int pool = 0; pool < 2; pool++) {
      assertThat(used[pool].get()).as("seed %d", seed).isBetween(LIMIT / 2, LIMIT);
      assertThat(database.query(usedOf(pool))).as("seed %d", seed).isEqualTo("" + used[pool].get());
    }
    stores.forEach(PostgresCounterStore::close);
    assertThat(listener.failures).as("seed %d: %s", seed, listener.reasons).isEmpty();
    assertThat(listener.triedAgain).as("deadlocks, seed %d", seed).hasValue(0);
  }

  @Test
  void aChargeIsTwoTripsAndOneMoreAfterGuaranteesHaveChanged() {
    CuttingProxy proxy = CuttingProxy.to(database.port());
    String url = "jdbc:postgresql://127.0.0.1:" + proxy.port() + "/" + database.name();
    try (PostgresCounterStore store =
        new PostgresCounterStore(
            Wanted.of(url).connections(1).settings(), TestSurroundings.notifying(listener))) {
      answer(store.acquire(List.of(charge(0, tenant("a"), 160))));
      answer(store.acquire(List.of(charge(0, tenant("b"), 1))));
      answer(store.acquire(List.of(charge(0, tenant("a"), 10))));
      proxy.trips();
      answer(store.acquire(List.of(charge(0, tenant("b"), 1))));
      assertThat(proxy.trips()).as("within the guarantee").isEqualTo(2);
      answer(store.acquire(List.of(charge(0, tenant("a"), 10))));
      assertThat(proxy.trips()).as("beyond it").isEqualTo(2);
      answer(store.acquire(List.of(charge(0, tenant("c"), 101))));
      assertThat(proxy.trips()).as("with another tenant, beyond it").isEqualTo(3);
      answer(store.acquire(List.of(charge(0, tenant("c"), 10))));
      assertThat(proxy.trips()).as("again beyond it").isEqualTo(2);
    } finally {
      proxy.close();
    }
  }

  @Test
  void aTenantThatWasEvictedKeepsItsCalls() {
    FairTerms one = terms.withMaxTenants(1);
    try (PostgresCounterStore store =
        new PostgresCounterStore(
            Wanted.of(database.url()).settings(), TestSurroundings.notifying(listener))) {
      FairTenant a = new FairTenant(key("a"), TenantWeight.listed(1), one);
      FairTenant b = new FairTenant(key("b"), TenantWeight.listed(1), one);
      assertThat(answer(store.lease(lease(0, a, 10, 1))).units()).isEqualTo(10);
      assertThat(answer(store.lease(lease(0, b, 20, 2))).units()).isEqualTo(20);
      assertThat(database.query("SELECT count(*) FROM throttlekit.tenants")).isEqualTo("1");
      assertThat(answer(store.lease(lease(0, a, 10, 1))).units()).isEqualTo(10);
      Outcome outcome = answer(store.acquire(List.of(charge(0, b, LIMIT - 30))));
      assertThat(outcome.admitted()).as("the copy was not counted").isTrue();
    }
  }

  @Test
  void aLowerBoundOfTenantsIsReachedInManyRequests() {
    try (PostgresCounterStore store =
        new PostgresCounterStore(
            Wanted.of(database.url()).settings(), TestSurroundings.notifying(listener))) {
      List<Claim> all = new ArrayList<>();
      for (int i = 0; i < 60; i++) {
        all.add(charge(0, tenant("t" + i), 1));
      }
      answer(store.acquire(all));
      int before = 60;
      for (int i = 0; i < 8; i++) {
        FairTenant late =
            new FairTenant(key("new" + i), TenantWeight.listed(1), terms.withMaxTenants(9));
        if (i % 2 == 0) {
          answer(store.acquire(List.of(charge(0, late, 1))));
        } else {
          answer(store.lease(lease(0, late, 1, i)));
        }
        int active = Integer.parseInt(database.query("SELECT count(*) FROM throttlekit.tenants"));
        assertThat(active).isEqualTo(Math.max(9, before - 8));
        before = active;
      }
      assertThat(before).isEqualTo(9);
    }
  }

  @Test
  void aPoolThatIsResetBeginsWithoutTenants() {
    try (PostgresCounterStore store =
        new PostgresCounterStore(
            Wanted.of(database.url()).settings(), TestSurroundings.notifying(listener))) {
      answer(store.acquire(List.of(charge(0, tenant("a"), 1))));
      answer(store.acquire(List.of(charge(0, tenant("b"), LIMIT / 2))));
      answer(store.reset(pool(0), StoreCalls.FIVE));
      assertThat(answer(store.acquire(List.of(charge(0, tenant("b"), LIMIT)))).admitted()).isTrue();
      assertThat(database.query("SELECT count(*) FROM throttlekit.tenants")).isEqualTo("1");
      answer(store.reset(pool(0), StoreCalls.FIVE));
      answer(store.acquire(List.of(charge(0, tenant("b"), LIMIT))));
      assertThat(answer(store.acquire(List.of(charge(0, tenant("b"), 1)))).admitted())
          .as("although the tenant's row did not change")
          .isFalse();
      answer(store.resetTenant(pool(0), tenant("b")));
      assertThat(database.query("SELECT count(*) FROM throttlekit.tenants")).isEqualTo("0");
    }
  }

  /** Returns a query of what the rows of a pool's tenants have used. */
  private static String usedOf(int pool) {
    StringBuilder name = new StringBuilder();
    for (byte each : Names.of(pool(pool))) {
      name.append("%02x".formatted(each));
    }
    return "SELECT sum(used) FROM throttlekit.tenants WHERE pool = '\\x" + name + "'";
  }

  private static CounterKey pool(int number) {
    return CounterKey.of("shop|fair_window", "pool", "" + number);
  }

  private static CounterKey key(String tenant) {
    return CounterKey.of("shop|tenants", "tenant", tenant);
  }

  private FairTenant tenant(String name) {
    return new FairTenant(key(name), TenantWeight.listed(1), terms);
  }

  private static Claim charge(int pool, FairTenant tenant, long cost) {
    FixedWindow window = new FixedWindow(LIMIT, WINDOW);
    Charge charge = new Charge(pool(pool), window, cost, Overrun.REFUSE, tenant);
    return new Claim(Claim.Role.ENFORCED, List.of(charge));
  }

  private static LeaseRequest lease(int pool, FairTenant tenant, long units, long number) {
    FixedWindow window = new FixedWindow(LIMIT, WINDOW);
    CallId id = new CallId(number, 1);
    return new LeaseRequest(pool(pool), window, units, DataLoss.REFILL, id).of(tenant);
  }
}
