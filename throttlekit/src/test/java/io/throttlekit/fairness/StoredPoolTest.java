package io.throttlekit.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.Overrun;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class StoredPoolTest {
  private static final long WINDOW = 1_000;
  private static final int HISTORIES = 100;
  private static final int STEPS = 120;
  private static final int TENANTS = 8;
  private static final List<Overrun> OVERRUNS = List.of(Overrun.values());

  /** Numbers and rows, as a store has them. */
  private static final class Store {
    final Map<CounterKey, StoredPool.Row> rows = new HashMap<>();
    long @Nullable [] numbers;

    /** How many rows of other tenants were read. */
    long read;

    int reads;

    Transaction begin(FairTerms terms, CounterKey... tenants) {
      return new Transaction(this, terms, tenants);
    }
  }

  /** Reads the rows as they were before it. */
  private static final class Transaction implements StoredPool.Rows {
    private final Store store;
    private final Set<CounterKey> tenants;
    private final Set<CounterKey> evicted = new HashSet<>();
    final StoredPool stored;

    Transaction(Store store, FairTerms terms, CounterKey... tenants) {
      this.store = store;
      this.tenants = Set.of(tenants);
      Map<CounterKey, StoredPool.Row> known = new HashMap<>(store.rows);
      known.keySet().retainAll(this.tenants);
      this.stored = new StoredPool(terms, store.numbers, known, this);
    }

    @Override
    public List<StoredPool.Sum> sums(List<StoredPool.Range> ranges) {
      store.reads++;
      List<StoredPool.Sum> sums = new ArrayList<>();
      for (StoredPool.Range range : ranges) {
        List<Long> used = new ArrayList<>();
        for (StoredPool.Row row : store.rows.values()) {
          if (store.numbers != null
              && row.windowEndMillis() == store.numbers[0]
              && row.weight().equals(range.weight())
              && row.used() >= range.from()
              && row.used() < range.to()) {
            used.add(row.used());
          }
        }
        store.read += used.size();
        sums.add(new StoredPool.Sum(used.size(), used.stream().mapToLong(Long::longValue).sum()));
      }
      return sums;
    }

    @Override
    public StoredPool.@Nullable Row oldest(boolean listed, long activeFromMillis) {
      Map.Entry<CounterKey, StoredPool.Row> oldest = first(listed, activeFromMillis);
      return oldest == null ? null : oldest.getValue();
    }

    private Map.@Nullable Entry<CounterKey, StoredPool.Row> first(boolean listed, long from) {
      return store.rows.entrySet().stream()
          .filter(row -> !tenants.contains(row.getKey()) && !evicted.contains(row.getKey()))
          .filter(row -> row.getValue().weight().listed() == listed)
          .filter(row -> row.getValue().windowEndMillis() >= from)
          .min(Comparator.comparingLong(row -> row.getValue().place()))
          .orElse(null);
    }

    @Override
    public void evict(StoredPool.Row oldest) {
      store.rows.forEach((key, row) -> {
        if (row.place() == oldest.place() && row.equals(oldest)) {
          evicted.add(key);
        }
      });
    }

    void commit() {
      store.numbers = stored.numbers();
      store.rows.keySet().removeAll(evicted);
      for (CounterKey tenant : tenants) {
        StoredPool.Row row = stored.row(tenant);
        if (row == null) {
          store.rows.remove(tenant);
        } else {
          store.rows.put(tenant, row);
        }
      }
    }
  }

  @ParameterizedTest(name = "at most {0} tenants, seeds 1 to 100")
  @ValueSource(ints = {2, 3, 5, 100})
  void decidesLikeAPoolInMemory(int maxTenants) {
    int refused = 0;
    int borrowed = 0;
    int evictions = 0;
    int read = 0;
    for (int seed = 1; seed <= HISTORIES; seed++) {
      Random random = new Random(seed);
      Store store = new Store();
      FairTerms terms = FairTerms.of(40, WINDOW).withMaxTenants(maxTenants);
      FairPool memory = new FairPool(terms);
      long now = 5 * WINDOW + 1;
      for (int step = 0; step < STEPS; step++) {
        if (random.nextInt(40) == 0) {
          int max = Math.max(1, maxTenants - random.nextInt(3));
          terms = FairTerms.of(20 + random.nextInt(40), WINDOW).withMaxTenants(max);
        }
        List<FairTenant> tenants = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
          tenants.add(tenant(random, terms));
        }
        Transaction transaction =
            store.begin(
                terms, tenants.stream().map(FairTenant::key).distinct().toArray(CounterKey[]::new));
        FairPool pool = transaction.stored.pool();
        for (FairTenant tenant : tenants) {
          String at = "seed %d, step %d".formatted(seed, step);
          switch (random.nextInt(10)) {
            case 0 ->
                assertThat(pool.look(tenant, Overrun.COUNT, now))
                    .as(at)
                    .isEqualTo(memory.look(tenant, Overrun.COUNT, now));
            case 1 ->
                assertThat(pool.refund(tenant, 3, now))
                    .as(at)
                    .isEqualTo(memory.refund(tenant, 3, now));
            case 2 -> {
              if (random.nextInt(4) == 0) {
                pool.reset(tenant);
                memory.reset(tenant);
              }
            }
            default -> {
              long cost = 1 + random.nextLong(random.nextInt(8) == 0 ? 50 : 6);
              Overrun overrun = OVERRUNS.get(random.nextInt(10) == 0 ? random.nextInt(3) : 0);
              pool.roll(now); // a draft does, before it reads what is used
              memory.roll(now);
              long before = memory.used();
              FairDecision expected = memory.charge(tenant, cost, overrun, now);
              FairDecision actual = pool.charge(tenant, cost, overrun, now);
              assertThat(actual).as(at).isEqualTo(expected);
              refused += expected.admitted() ? 0 : 1;
              borrowed += expected.borrowed() > 0 ? 1 : 0;
              if (random.nextInt(5) == 0) {
                long parts = memory.used() - before;
                long not = expected.admitted() ? 0 : cost;
                memory.undo(tenant, parts, expected.borrowed(), not);
                pool.undo(tenant, parts, expected.borrowed(), not);
              }
            }
          }
        }
        evictions += transaction.evicted.size();
        transaction.commit();
        if (random.nextInt(25) == 0) {
          now += random.nextLong(5 * WINDOW / 2);
        }
      }
      read += store.reads;
    }
    assertThat(refused).isPositive();
    assertThat(borrowed).isPositive();
    assertThat(read).isPositive();
    assertThat(evictions > 0).isEqualTo(maxTenants < TENANTS);
  }

  @Test
  void readsOnlyTenantsBetweenTheOldAndTheNewGuarantee() {
    Store store = new Store();
    FairTerms terms = FairTerms.of(100_000, WINDOW);
    for (int i = 0; i < 1_000; i++) {
      charge(store, terms, i, 1 + i % 100, 1);
    }
    charge(store, terms, 0, 150, 2); // guarantees of 100 from now on, as the last window's tenants
    long ever = store.read;
    int reads = store.reads;
    for (int i = 0; i < 1_000; i++) {
      charge(store, terms, i, i % 2 == 0 ? 50 : 200, 2);
    }
    assertThat(store.reads).isEqualTo(reads);
    charge(store, terms, 2_000, 1, 2); // a guarantee of 100 becomes 99
    charge(store, terms, 1, 150, 2);
    assertThat(store.reads).isEqualTo(reads + 1);
    assertThat(store.read).isEqualTo(ever);
  }

  @Test
  void aWindowThatBeginsWithinATransactionHasNothingUsed() {
    Store store = new Store();
    FairTerms terms = FairTerms.of(100, WINDOW);
    charge(store, terms, 1, 30, 1);
    charge(store, terms, 2, 1, 1);
    FairPool memory = new FairPool(terms);
    FairTenant first = new FairTenant(Keys.tenant(1), TenantWeight.listed(1), terms);
    FairTenant other = new FairTenant(Keys.tenant(2), TenantWeight.listed(1), terms);
    memory.charge(first, 30, Overrun.REFUSE, WINDOW);
    memory.charge(other, 1, Overrun.REFUSE, WINDOW);
    FairPool stored = store.begin(terms, first.key()).stored.pool();
    for (FairPool pool : List.of(stored, memory)) {
      pool.charge(first, 5, Overrun.REFUSE, WINDOW);
      pool.charge(first, 7, Overrun.REFUSE, 2 * WINDOW);
      assertThat(pool.figures(2 * WINDOW).reserved()).isEqualTo(43 + 50);
    }
  }

  @Test
  void aTenantThatTheNextWindowForgetsIsNotEvictedInPlaceOfAnActiveOne() {
    Store store = new Store();
    FairTerms terms = FairTerms.of(100, WINDOW).withMaxTenants(2);
    charge(store, terms, 1, 1, 1);
    charge(store, terms, 2, 1, 2);
    Transaction transaction = store.begin(terms, Keys.tenant(1), Keys.tenant(3), Keys.tenant(4));
    FairPool pool = transaction.stored.pool();
    for (int name = 3; name <= 4; name++) {
      FairTenant tenant = new FairTenant(Keys.tenant(name), TenantWeight.listed(1), terms);
      assertThat(pool.charge(tenant, 1, Overrun.REFUSE, 3 * WINDOW).admitted()).isTrue();
    }
    assertThat(pool.size()).isEqualTo(2);
    transaction.commit();
    assertThat(store.rows.keySet()).containsExactlyInAnyOrder(Keys.tenant(3), Keys.tenant(4));
  }

  private static void charge(Store store, FairTerms terms, int name, long cost, int window) {
    FairTenant tenant = new FairTenant(Keys.tenant(name), TenantWeight.listed(1), terms);
    Transaction transaction = store.begin(terms, tenant.key());
    transaction.stored.pool().charge(tenant, cost, Overrun.REFUSE, window * WINDOW);
    transaction.commit();
  }

  private static FairTenant tenant(Random random, FairTerms terms) {
    int name = random.nextInt(TENANTS);
    long weight = random.nextInt(6) == 0 ? 1 + random.nextInt(3) : 1 + name % 3;
    return new FairTenant(
        Keys.tenant(name), new TenantWeight(weight, random.nextInt(4) > 0), terms);
  }
}
