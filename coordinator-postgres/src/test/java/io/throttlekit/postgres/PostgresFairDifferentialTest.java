package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
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
import io.throttlekit.testkit.postgres.RealPostgres;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Random histories of requests, leases and returns, as in memory. */
@RealPostgres
class PostgresFairDifferentialTest {
  private static final long WINDOW = 10_000;
  private static final long START = 1_700_000_000_000L;
  private static final int STEPS = 300;
  private static final int POOLS = 2;
  private static final int TENANTS = 7;
  private static final List<Overrun> OVERRUNS = List.of(Overrun.values());
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final ManualTime clock = new ManualTime(START);
  private long numbers;

  /** The last lease of a history, which may be repeated or returned. */
  private record Leased(LeaseRequest request, LeaseGrant grant) {}

  @BeforeEach
  void empty() {
    database.empty();
  }

  @Test
  void decidesAsInMemory() {
    compare(1, 4);
  }

  @Test
  @Tag("thorough")
  void decidesAsInMemoryInManyHistories() {
    compare(100, 200);
  }

  private void compare(int first, int last) {
    try (CounterStore stored =
        new PostgresCounterStore(
            Wanted.of(database.url()).connections(1).settings(), TestSurroundings.clock(clock))) {
      for (int seed = first; seed <= last; seed++) {
        compare(stored, seed);
      }
    }
  }

  private void compare(CounterStore stored, int seed) {
    Random random = new Random(seed);
    CounterStore memory = new InMemoryStore(clock, 1_000_000);
    FairTerms terms = FairTerms.of(60, WINDOW).withMaxTenants(2 + random.nextInt(6));
    Leased leased = null;
    touch(seed, terms, stored, memory);
    for (int step = 0; step < STEPS; step++) {
      String at = "seed %d, step %d".formatted(seed, step);
      if (random.nextInt(60) == 0) {
        terms = FairTerms.of(30 + random.nextInt(60), WINDOW).withMaxTenants(2 + random.nextInt(6));
      }
      FairTenant tenant = tenant(seed, random, terms);
      CounterKey pool = pool(seed, random.nextInt(POOLS));
      switch (random.nextInt(12)) {
        case 0 -> {
          CallId id = random.nextInt(4) == 0 ? null : new CallId(3, ++numbers);
          LeaseRequest request =
              new LeaseRequest(pool, window(terms), 1 + random.nextInt(30), DataLoss.REFILL, id)
                  .of(tenant);
          leased = new Leased(request, answer(memory.lease(request)));
          assertThat(answer(stored.lease(request))).as(at).isEqualTo(leased.grant());
        }
        case 1 -> {
          if (leased != null && leased.request().id() != null) {
            assertThat(answer(stored.lease(leased.request())))
                .as(at)
                .isEqualTo(answer(memory.lease(leased.request())));
          }
        }
        case 2 -> {
          if (leased != null && leased.grant().units() > 0) {
            LeaseRequest back = leased.request().with(new CallId(4, ++numbers));
            long units = 1 + random.nextLong(leased.grant().units());
            long end = leased.grant().windowEndMillis();
            for (int copy = random.nextInt(2); copy >= 0; copy--) {
              answer(memory.returnUnits(back, end, units));
              answer(stored.returnUnits(back, end, units));
            }
            leased = null;
          }
        }
        case 3 -> {
          if (random.nextInt(4) == 0) {
            answer(memory.resetTenant(pool, tenant));
            answer(stored.resetTenant(pool, tenant));
          } else if (random.nextInt(8) == 0) {
            answer(memory.reset(pool, window(terms)));
            answer(stored.reset(pool, window(terms)));
            touch(seed, terms, stored, memory);
          }
        }
        default -> {
          List<Claim> claims = claims(seed, random, terms);
          assertThat(answer(stored.acquire(claims)))
              .as("%s: %s", at, claims)
              .isEqualTo(answer(memory.acquire(claims)));
        }
      }
      if (random.nextInt(40) == 0) {
        clock.advance(random.nextLong(2 * WINDOW));
        touch(seed, terms, stored, memory);
      }
    }
    memory.close();
  }

  /**
   * Uses all counters. In memory, a refused request leaves no tenant in an unknown one, and is
   * tried again with the tenants of others active that the first attempt has charged.
   */
  private static void touch(int seed, FairTerms terms, CounterStore... stores) {
    FixedWindow window = new FixedWindow(50, WINDOW);
    List<Charge> all = new ArrayList<>();
    all.add(new Charge(StoreCalls.key(window, "other" + seed), window, 1, Overrun.COUNT));
    for (int i = 0; i < POOLS; i++) {
      FairTenant tenant = tenant(seed, 0, 1, terms);
      all.add(new Charge(pool(seed, i), window(terms), 1, Overrun.COUNT, tenant));
    }
    for (CounterStore store : stores) {
      for (Charge charge : all) {
        answer(store.acquire(List.of(new Claim(Claim.Role.ENFORCED, List.of(charge)))));
      }
    }
  }

  private static List<Claim> claims(int seed, Random random, FairTerms terms) {
    List<Claim> claims = new ArrayList<>();
    for (int c = random.nextInt(3); c >= 0; c--) {
      List<Charge> charges = new ArrayList<>();
      for (int i = random.nextInt(2); i >= 0; i--) {
        charges.add(charge(seed, random, terms));
      }
      Claim.Role role = random.nextInt(5) == 0 ? Claim.Role.SHADOW : Claim.Role.ENFORCED;
      claims.add(new Claim(role, charges));
    }
    return claims;
  }

  private static Charge charge(int seed, Random random, FairTerms terms) {
    long cost =
        switch (random.nextInt(10)) {
          case 0 -> 0;
          case 1 -> -1 - random.nextInt(5);
          case 2 -> 1 + random.nextInt(70);
          default -> 1 + random.nextInt(8);
        };
    Overrun overrun = OVERRUNS.get(random.nextInt(8) == 0 ? random.nextInt(3) : 0);
    if (random.nextInt(5) == 0) {
      FixedWindow window = new FixedWindow(50, WINDOW);
      return new Charge(StoreCalls.key(window, "other" + seed), window, cost, overrun);
    }
    FairTenant tenant = tenant(seed, random, terms);
    return new Charge(pool(seed, random.nextInt(POOLS)), window(terms), cost, overrun, tenant);
  }

  private static FixedWindow window(FairTerms terms) {
    return new FixedWindow(terms.limit(), WINDOW);
  }

  private static CounterKey pool(int seed, int number) {
    return CounterKey.of("shop|fair_window|10000", "s" + seed, "p" + number);
  }

  private static FairTenant tenant(int seed, Random random, FairTerms terms) {
    int name = random.nextInt(TENANTS);
    long weight = random.nextInt(8) == 0 ? 1 + random.nextInt(4) : 1 + name % 3;
    return tenant(seed, name, weight, terms);
  }

  private static FairTenant tenant(int seed, int name, long weight, FairTerms terms) {
    CounterKey key = CounterKey.of("shop|tenants|10000", "s" + seed, "t" + name);
    return new FairTenant(key, new TenantWeight(weight, name % 3 > 0), terms);
  }
}
