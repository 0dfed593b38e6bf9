package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.Overrun;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several processes at once. */
@RealPostgres
class PostgresConcurrencyTest {
  private static final int PROCESSES = 3;
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final RecordingListener listener = new RecordingListener();

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void noWindowIsLeasedBeyondItsBudgetByConcurrentLeasesAndReturns(long seed) {
    FixedWindow window = new FixedWindow(100, 400);
    Budget budget = StoreCalls.budget(window, "seed" + seed);
    Map<Long, AtomicLong> out = new ConcurrentHashMap<>();
    AtomicLong most = new AtomicLong();
    List<PostgresGlobalCoordinator> all = coordinators();
    List<CompletableFuture<?>> regions = new ArrayList<>();
    for (int r = 0; r < 6; r++) {
      regions.add(
          region(
              all.get(r % PROCESSES), budget, "r" + r, new SplittableRandom(seed * 31 + r), out));
    }
    regions.forEach(StoreCalls::answer);
    all.forEach(PostgresGlobalCoordinator::close);
    out.values().forEach(units -> most.accumulateAndGet(units.get(), Math::max));
    assertThat(most.get()).as("seed %d: %s", seed, out).isEqualTo(100);
    assertThat(listener.failures).as("seed %d: %s", seed, listener.reasons).isEmpty();
  }

  /** Leases and returns in turn; a return is subtracted before its units can be leased again. */
  private static CompletableFuture<?> region(
      PostgresGlobalCoordinator coordinator,
      Budget budget,
      String name,
      SplittableRandom random,
      Map<Long, AtomicLong> out) {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    var _ =
        Thread.ofVirtual()
            .start(() -> {
              try {
                for (int i = 0; i < 60; i++) {
                  long wanted = random.nextLong(1, 30);
                  long end = BudgetLease.CURRENT;
                  LeaseGrant grant =
                      answer(
                          coordinator.lease(
                              new BudgetLease(budget, name, end, wanted, DataLoss.REFILL)));
                  AtomicLong units =
                      out.computeIfAbsent(grant.windowEndMillis(), _ -> new AtomicLong());
                  units.addAndGet(grant.units());
                  if (grant.units() > 1 && random.nextInt(3) == 0) {
                    long back = grant.units() / 2;
                    units.addAndGet(-back);
                    boolean counted =
                        answer(
                            coordinator.reconcile(
                                new BudgetReturn(
                                    budget, name, "" + i, grant.windowEndMillis(), back)));
                    units.addAndGet(counted ? 0 : back);
                  }
                }
                done.complete(true);
              } catch (RuntimeException e) {
                done.completeExceptionally(e);
              }
            });
    return done;
  }

  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void requestsOfSeveralCountersInAnyOrderAreExactAndNeverDeadlock(long seed) {
    FixedWindow window = new FixedWindow(120, StoreCalls.FIVE.windowMillis());
    SplittableRandom random = new SplittableRandom(seed);
    List<PostgresCounterStore> stores = new ArrayList<>();
    for (int i = 0; i < PROCESSES; i++) {
      stores.add(new PostgresCounterStore(settings(), TestSurroundings.notifying(listener)));
    }
    Map<String, AtomicLong> admitted = new ConcurrentHashMap<>();
    List<CompletableFuture<?>> asked = new ArrayList<>();
    for (int i = 0; i < 600; i++) {
      List<String> users = new ArrayList<>(List.of("a", "b", "c", "d", "e"));
      Collections.shuffle(users, new Random(random.nextLong()));
      List<String> some = users.subList(0, 1 + random.nextInt(3));
      asked.add(
          stores
              .get(i % PROCESSES)
              .acquire(some.stream().map(user -> claim(window, seed + user)).toList())
              .thenAccept(outcome -> count(outcome, some, admitted))
              .toCompletableFuture());
    }
    asked.forEach(StoreCalls::answer);
    assertThat(admitted.values()).as("seed %d", seed).allMatch(units -> units.get() <= 120);
    assertThat(admitted.values()).as("seed %d", seed).anyMatch(units -> units.get() == 120);
    for (String user : admitted.keySet()) {
      assertThat(left(stores.getFirst(), window, seed + user))
          .as("seed %d user %s", seed, user)
          .isEqualTo(120 - admitted.get(user).get());
    }
    stores.forEach(PostgresCounterStore::close);
    assertThat(listener.failures).as("seed %d: %s", seed, listener.reasons).isEmpty();
    assertThat(listener.triedAgain).as("deadlocks, seed %d", seed).hasValue(0);
  }

  @Test
  void anEscrowGrantsItsUnitsOnceUnderConcurrency() {
    FixedWindow window = StoreCalls.FIVE;
    List<PostgresRegionalEscrow> escrows = new ArrayList<>();
    for (int i = 0; i < PROCESSES; i++) {
      escrows.add(new PostgresRegionalEscrow(settings(), TestSurroundings.notifying(listener)));
    }
    long end = TimeSource.system().wallMillis() + 3_600_000;
    List<CompletableFuture<Long>> given = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      PostgresRegionalEscrow escrow = escrows.get(i % PROCESSES);
      if (i % 5 == 0) { // each id is used again four refills later
        EscrowRefill refill =
            new EscrowRefill(StoreCalls.key(window, "e"), "id" + i % 20, end, 0, end, 10);
        given.add(escrow.refill(refill).thenApply(_ -> 0L).toCompletableFuture());
      }
      given.add(
          escrow
              .lease(StoreCalls.key(window, "e"), 3)
              .thenApply(grant -> grant.units())
              .toCompletableFuture());
    }
    long sum = given.stream().mapToLong(StoreCalls::answer).sum();
    sum += answer(escrows.getFirst().release(StoreCalls.key(window, "e"), end));
    assertThat(sum).isEqualTo(40);
    escrows.forEach(PostgresRegionalEscrow::close);
  }

  private List<PostgresGlobalCoordinator> coordinators() {
    List<PostgresGlobalCoordinator> all = new ArrayList<>();
    for (int i = 0; i < PROCESSES; i++) {
      all.add(new PostgresGlobalCoordinator(settings(), TestSurroundings.notifying(listener)));
    }
    return all;
  }

  private static PostgresSettings settings() {
    return Wanted.of(database.url()).settings();
  }

  private static void count(Outcome outcome, List<String> users, Map<String, AtomicLong> admitted) {
    for (String user : users) {
      admitted.computeIfAbsent(user, _ -> new AtomicLong()).addAndGet(outcome.admitted() ? 1 : 0);
    }
  }

  private static Claim claim(FixedWindow window, String user) {
    Charge charge = new Charge(StoreCalls.key(window, user), window, 1, Overrun.REFUSE);
    return new Claim(Claim.Role.ENFORCED, List.of(charge));
  }

  private static long left(PostgresCounterStore store, FixedWindow window, String user) {
    return answer(store.peek(StoreCalls.key(window, user), window))
        .decisions()
        .getFirst()
        .remaining();
  }
}
