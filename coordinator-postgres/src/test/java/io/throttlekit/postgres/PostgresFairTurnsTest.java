package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.FIVE;
import static io.throttlekit.postgres.StoreCalls.answer;
import static io.throttlekit.postgres.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.CallId;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.CounterStore;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Calls that wait for the row of a counter that tenants share. */
@RealPostgres
class PostgresFairTurnsTest {
  private static final long LIMIT = 300;
  private static final int INVENTED = 200;

  /** Seeds from this one have fewer tenants than a transaction, so that some evict others. */
  private static final long EVICTS = 5;

  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final ManualTime clock = new ManualTime(1_700_000_000_000L);
  private final FairTerms terms = FairTerms.of(LIMIT, FIVE.windowMillis());
  private final FixedWindow window = new FixedWindow(LIMIT, FIVE.windowMillis());
  private final CounterKey pool = CounterKey.of("shop|fair_window", "pool", "0");

  @BeforeEach
  void empty() {
    database.empty();
  }

  @Test
  void oneTransactionOfInventedTenantsAtMostOvertakesAListedOne() throws SQLException {
    try (PostgresCounterStore store = open(8)) {
      answer(store.lease(lease(tenant("gold", true), 1, null)));
      List<CompletionStage<?>> invented = new ArrayList<>();
      CompletionStage<LeaseGrant> gold =
          whileTheRowIsLocked(() -> {
            for (int i = 0; i < INVENTED; i++) {
              CallId id = new CallId(i, 1);
              invented.add(store.lease(lease(tenant("invented" + i, false), 10, id)));
            }
            var leased = store.lease(lease(tenant("gold", true), 10, new CallId(INVENTED, 1)));
            awaitLockWaits(2); // the listed tenant's, and one of invented tenants
            answer(StoreCalls.ask(store, "without a tenant", 1)); // the others keep connections
            return leased;
          });
      assertThat(answer(gold).units()).isEqualTo(10);
      invented.forEach(StoreCalls::answer);
      String overtook =
          "SELECT count(*) FROM throttlekit.tenants WHERE age(xmin) >"
              + " (SELECT age(xmin) FROM throttlekit.tenants WHERE listed)";
      assertThat(Long.parseLong(database.query(overtook)))
          .as("tenants of earlier transactions")
          .isLessThanOrEqualTo(Turns.MAX_TENANTS);
    }
  }

  @Test
  void aCallThatWasOvertakenFailsWithoutTheOthersOfItsTransaction() throws SQLException {
    try (PostgresCounterStore store = open(8)) {
      answer(store.lease(lease(tenant("a", true), 1, new CallId(16, 2))));
      List<CompletionStage<?>> calls =
          whileTheRowIsLocked(() -> {
            List<CompletionStage<?>> begun = new ArrayList<>();
            begun.add(store.lease(lease(tenant("first", true), 1, null)));
            awaitLockWaits(1);
            begun.add(store.lease(lease(tenant("a", true), 1, new CallId(16, 1))));
            begun.add(store.lease(lease(tenant("b", true), 1, new CallId(16, 3))));
            return begun;
          });
      assertThat(failure(calls.get(1))).hasMessageContaining("a later call");
      answer(calls.get(2));
    }
    assertThat(database.query("SELECT sum(used) FROM throttlekit.tenants")).isEqualTo("3");
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, EVICTS, EVICTS + 1})
  void oneTransactionDecidesAsInMemory(long seed) throws SQLException {
    SplittableRandom random = new SplittableRandom(seed);
    boolean listed = random.nextBoolean();
    FairTerms of = seed < EVICTS ? terms : terms.withMaxTenants(random.nextInt(2, 6));
    InMemoryStore memory = new InMemoryStore(clock, 1_000);
    try (PostgresCounterStore store =
        new PostgresCounterStore(
            Wanted.of(database.url()).settings(), TestSurroundings.clock(clock))) {
      LeaseRequest begins = lease(tenant("begins", listed, of), 1, null);
      answer(store.lease(begins));
      answer(memory.lease(begins));
      List<Function<CounterStore, CompletionStage<?>>> calls = new ArrayList<>();
      for (int tenant = 0; tenant < Turns.MAX_TENANTS; tenant++) { // in the order of their turns
        for (int i = random.nextInt(1, 5); i > 0; i--) {
          calls.add(call(random, tenant("t" + tenant, listed, of), tenant * 10L + i));
        }
      }
      List<CompletionStage<?>> stored =
          whileTheRowIsLocked(() -> {
            var _ = store.lease(begins); // begins alone; the others wait for its turn
            awaitLockWaits(1);
            return calls.stream().<CompletionStage<?>>map(call -> call.apply(store)).toList();
          });
      answer(memory.lease(begins));
      for (int i = 0; i < calls.size(); i++) {
        assertThat((Object) answer(stored.get(i)))
            .as("seed %d, call %d", seed, i)
            .isEqualTo(answer(calls.get(i).apply(memory)));
      }
      String last = seed < EVICTS ? "2" : "1"; // only that one's tenants are left
      String transactions = "SELECT count(DISTINCT xmin::text) FROM throttlekit.tenants";
      assertThat(database.query(transactions)).as("that one and the last").isEqualTo(last);
    }
  }

  private Function<CounterStore, CompletionStage<?>> call(
      RandomGenerator random, FairTenant tenant, long number) {
    long units = random.nextLong(1, 20);
    if (random.nextBoolean()) {
      CallId id = new CallId(number, 1);
      return store -> store.lease(lease(tenant, units, id));
    }
    Charge charge = new Charge(pool, window, units, Overrun.REFUSE, tenant);
    return store -> store.acquire(List.of(new Claim(Claim.Role.ENFORCED, List.of(charge))));
  }

  private static PostgresCounterStore open(int connections) {
    return PostgresCounterStore.connect(
        Wanted.of(database.url()).connections(connections).settings(),
        TimeSource.system(),
        TestSurroundings.TIMER,
        StoreListener.NONE);
  }

  private <T> T whileTheRowIsLocked(Supplier<T> calls) throws SQLException {
    try (Connection holder = database.connect();
        Statement sql = holder.createStatement()) {
      holder.setAutoCommit(false);
      sql.execute("SELECT FROM throttlekit.counters FOR UPDATE");
      T called = calls.get();
      holder.rollback();
      return called;
    }
  }

  private static void awaitLockWaits(int transactions) {
    String query =
        "SELECT count(*) FROM pg_stat_activity"
            + " WHERE datname = current_database() AND wait_event_type = 'Lock'";
    StoreCalls.await(
        transactions + " transactions at the row",
        () -> database.query(query).equals("" + transactions));
  }

  private FairTenant tenant(String name, boolean listed) {
    return tenant(name, listed, terms);
  }

  private static FairTenant tenant(String name, boolean listed, FairTerms terms) {
    CounterKey key = CounterKey.of("shop|tenants", "tenant", name);
    return new FairTenant(key, new TenantWeight(1, listed), terms);
  }

  private LeaseRequest lease(FairTenant tenant, long units, @Nullable CallId id) {
    return new LeaseRequest(pool, window, units, DataLoss.REFILL, id).of(tenant);
  }
}
