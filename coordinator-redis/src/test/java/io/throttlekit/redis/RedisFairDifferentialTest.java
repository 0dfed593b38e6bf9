package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.answer;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.Cost;
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
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.Outcome;
import io.throttlekit.testkit.redis.RealRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Random histories of pools, with the results of the store in memory. */
@RealRedis
class RedisFairDifferentialTest {
  private static final long WINDOW = 10_000;
  private static final long START = 1_700_000_000_000L;
  private static final int STEPS = 120;
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  private final ManualTime clock = new ManualTime(START);
  private RedisCounterStore stored;
  private CounterStore memory;
  private long calls;
  private long admitted;
  private long refused;

  @BeforeEach
  void open() {
    stored = Stores.open(redis.url(), clock);
    memory = new InMemoryStore(clock, 10_000_000);
  }

  @AfterEach
  void close() {
    stored.close();
    memory.close();
  }

  @Test
  void decidesAsInMemory() {
    for (long seed = 1; seed <= 6; seed++) {
      compare(seed);
    }
    assertThat(admitted).isGreaterThan(200);
    assertThat(refused).isGreaterThan(200);
  }

  @Test
  @Tag("thorough")
  void decidesAsInMemoryInManyHistories() {
    for (long seed = 1_000; seed < 1_400; seed++) {
      compare(seed);
    }
  }

  /** Their sum is above 2^53, and the products above 2^93. */
  @Test
  void dividesExactlyAmongManyTenantsOfTheLargestWeights() {
    FairTerms terms = FairTerms.of(Cost.MAX, WINDOW);
    SplittableRandom random = new SplittableRandom(7);
    List<CompletionStage<Outcome>> answers = new ArrayList<>();
    List<List<Claim>> requests = new ArrayList<>();
    for (int request = 0; request < 12; request++) {
      List<Claim> claims = new ArrayList<>();
      for (int i = 0; i < 900; i++) {
        long weight = TenantWeight.MAX - random.nextInt(3);
        boolean listed = random.nextInt(9) > 0;
        CounterKey key = CounterKey.of("tenants", "t" + request, "t" + i);
        FairTenant tenant = new FairTenant(key, new TenantWeight(weight, listed), terms);
        long cost = 1 + random.nextLong(i % 3 == 0 ? Cost.MAX / 4_000 : 1_000);
        Charge charge = new Charge(pool(7, 0), window(terms), cost, Overrun.REFUSE, tenant);
        claims.add(new Claim(Claim.Role.SHADOW, List.of(charge)));
      }
      requests.add(claims);
    }
    requests.forEach(request -> answers.add(stored.acquire(request)));
    for (int i = 0; i < requests.size(); i++) {
      assertThat(answer(answers.get(i))).isEqualTo(answer(memory.acquire(requests.get(i))));
    }
  }

  /** One of the rules of a history, and the range of its costs. */
  private record Rule(FairTerms terms, long most) {}

  private static Rule rule(SplittableRandom random) {
    long parts = random.nextInt(4) == 0 ? 1_000 : 1;
    long limit =
        switch (random.nextInt(6)) {
          case 0 -> random.nextLong(3);
          case 1 -> Cost.MAX / parts - random.nextLong(3);
          default -> 20 + random.nextLong(200);
        };
    FairTerms terms =
        new FairTerms(
            limit, WINDOW, parts, random.nextInt(FairTerms.ALL + 1), 1 + random.nextInt(9));
    return new Rule(terms, Math.max(1, terms.limitParts() / (1 + random.nextInt(20))));
  }

  private void compare(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    Rule rule = rule(random);
    for (int step = 0; step < STEPS; step++) {
      if (step == 0 || random.nextInt(30) == 0) {
        clock.advance(random.nextLong(2 * WINDOW));
        for (int pool = 0; pool < 2; pool++) {
          List<Claim> first = begin(seed, pool, rule);
          assertThat(answer(stored.acquire(first))).isEqualTo(answer(memory.acquire(first)));
        }
      }
      if (random.nextInt(40) == 0) { // a reload
        Rule other = rule(random);
        FairTerms terms = other.terms().withPartsPerUnit(1);
        long limit = Math.min(terms.limit(), Cost.MAX / rule.terms().partsPerUnit());
        long parts = rule.terms().partsPerUnit();
        rule =
            new Rule(
                new FairTerms(limit, WINDOW, parts, terms.unlistedMillionths(), terms.maxTenants()),
                rule.most());
      }
      List<Function<CounterStore, CompletionStage<?>>> together = new ArrayList<>();
      for (int i = 1 + random.nextInt(8); i > 0; i--) {
        together.add(call(seed, random, rule));
      }
      // They share round trips.
      List<CompletionStage<?>> answers = new ArrayList<>();
      together.forEach(call -> answers.add(call.apply(stored)));
      for (int i = 0; i < together.size(); i++) {
        Object there = answer(answers.get(i));
        Object here = answer(together.get(i).apply(memory));
        assertThat(there).as("seed %d, step %d, call %d", seed, step, i).isEqualTo(here);
        if (here instanceof Outcome outcome) {
          admitted += outcome.admitted() ? 1 : 0;
          refused += outcome.admitted() ? 0 : 1;
        }
      }
    }
  }

  private Function<CounterStore, CompletionStage<?>> call(
      long seed, SplittableRandom random, Rule rule) {
    int name = random.nextInt(2);
    CounterKey pool = pool(seed, name);
    FairTenant tenant = tenant(seed, name, random, rule);
    FixedWindow window = window(rule.terms());
    return switch (random.nextInt(14)) {
      case 0, 1 -> {
        LeaseRequest lease = lease(pool, tenant, cost(random, rule));
        yield store -> store.lease(lease).thenCombine(store.lease(lease), List::of);
      }
      case 2 -> {
        LeaseRequest lease = lease(pool, tenant, 1);
        long end = window.endMillis(clock.wallMillis() - random.nextLong(WINDOW / 5));
        long units = cost(random, rule);
        yield store ->
            store
                .returnUnits(lease, end, units)
                .thenCombine(store.returnUnits(lease, end, units), (_, _) -> units);
      }
      case 3 -> {
        boolean whole = random.nextInt(6) == 0;
        List<Claim> first = begin(seed, name, rule);
        yield store ->
            whole
                ? store.reset(pool, window).thenCombine(store.acquire(first), (_, next) -> next)
                : store.resetTenant(pool, tenant);
      }
      default -> {
        List<Claim> claims = claims(seed, random, rule);
        yield store -> store.acquire(claims);
      }
    };
  }

  /**
   * Returns a request that counts on a pool and on the counter that none share: the store in memory
   * decides a request anew if counters that it does not know have to be kept, and its tenants are
   * active the second time.
   */
  private static List<Claim> begin(long seed, int pool, Rule rule) {
    CounterKey key = CounterKey.of("shop|tenants|10000", "s" + seed, "p" + pool, "first", "");
    FairTenant tenant = new FairTenant(key, TenantWeight.listed(1), rule.terms());
    Charge charge = new Charge(pool(seed, pool), window(rule.terms()), 1, Overrun.COUNT, tenant);
    return List.of(
        new Claim(Claim.Role.ENFORCED, List.of(other(seed, rule, 1, Overrun.COUNT))),
        new Claim(Claim.Role.ENFORCED, List.of(charge)));
  }

  private static Charge other(long seed, Rule rule, long cost, Overrun overrun) {
    FixedWindow plain = new FixedWindow(rule.terms().limitParts(), WINDOW);
    return new Charge(StoreCalls.key(plain, "other" + seed), plain, cost, overrun);
  }

  private static List<Claim> claims(long seed, SplittableRandom random, Rule rule) {
    List<Claim> claims = new ArrayList<>();
    for (int c = 1 + random.nextInt(3); c > 0; c--) {
      List<Charge> charges = new ArrayList<>();
      for (int i = 1 + random.nextInt(2); i > 0; i--) {
        charges.add(charge(seed, random, rule));
      }
      Claim.Role role =
          List.of(Claim.Role.values()).get(random.nextInt(3) == 0 ? random.nextInt(3) : 0);
      claims.add(new Claim(role, charges));
    }
    return claims;
  }

  private static Charge charge(long seed, SplittableRandom random, Rule rule) {
    long cost =
        switch (random.nextInt(8)) {
          case 0 -> 0;
          case 1 -> -cost(random, rule);
          default -> cost(random, rule);
        };
    Overrun overrun = List.of(Overrun.values()).get(random.nextInt(6) == 0 ? random.nextInt(3) : 0);
    if (random.nextInt(6) == 0) {
      return other(seed, rule, cost, overrun);
    }
    int name = random.nextInt(2);
    return new Charge(
        pool(seed, name), window(rule.terms()), cost, overrun, tenant(seed, name, random, rule));
  }

  private static long cost(SplittableRandom random, Rule rule) {
    long most = random.nextInt(10) == 0 ? Math.max(1, rule.terms().limitParts()) : rule.most();
    return Math.min(Cost.MAX, 1 + random.nextLong(most));
  }

  private LeaseRequest lease(CounterKey pool, FairTenant tenant, long units) {
    CallId id = new CallId(3, ++calls);
    return new LeaseRequest(pool, window(tenant.terms()), units, DataLoss.REFILL, id).of(tenant);
  }

  private static FixedWindow window(FairTerms terms) {
    return new FixedWindow(terms.limitParts(), WINDOW);
  }

  private static CounterKey pool(long seed, int name) {
    return CounterKey.of("shop|fair_window|10000", "s" + seed, "p" + name);
  }

  private static FairTenant tenant(long seed, int pool, SplittableRandom random, Rule rule) {
    int name = random.nextInt(8);
    long weight = random.nextInt(10) == 0 ? 1 + random.nextLong(TenantWeight.MAX) : 1 + name / 2;
    boolean listed = random.nextInt(12) == 0 ? random.nextBoolean() : name % 3 > 0;
    CounterKey key = CounterKey.of("shop|tenants|10000", "s" + seed, "p" + pool, "o{", "t" + name);
    return new FairTenant(key, new TenantWeight(weight, listed), rule.terms());
  }
}
