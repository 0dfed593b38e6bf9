package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.answer;
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
import io.throttlekit.store.Terms;
import io.throttlekit.testkit.redis.RealRedis;
import java.util.List;
import java.util.SplittableRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Pools of budgets in Redis: random histories as in memory, their keys, and what leases cost. */
@RealRedis
class RedisFairCoordinatorTest {
  private static final long WINDOW = 10_000;
  private static final long START = 1_700_000_000_000L;
  private static final long END = START + WINDOW;
  private static final Pattern CALLS = Pattern.compile("cmdstat_([a-z]+):calls=(\\d+)");
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  private final ManualTime clock = new ManualTime(START);
  private RedisGlobalCoordinator stored;
  private long calls;
  private long granted;
  private long refused;

  @BeforeEach
  void open() {
    stored = Stores.coordinator(Stores.longDeadlines(redis.url()), clock);
  }

  @AfterEach
  void close() {
    stored.close();
  }

  @Test
  void grantsAsInMemory() {
    for (long seed = 1; seed <= 4; seed++) {
      compare(seed);
    }
    assertThat(granted).isGreaterThan(200);
    assertThat(refused).isGreaterThan(50);
  }

  @Test
  @Tag("thorough")
  void grantsAsInMemoryInManyHistories() {
    for (long seed = 100; seed < 300; seed++) {
      compare(seed);
    }
  }

  @Test
  void theNextWindowCostsNothingForEachTenant() {
    long few = commandsOfTheNextWindow("few", 10);
    long many = commandsOfTheNextWindow("many", 500);
    assertThat(many).isLessThanOrEqualTo(few).isLessThan(60);
  }

  /** Returns the number of commands of two leases from the next window. */
  private long commandsOfTheNextWindow(String name, int tenants) {
    FairTerms terms = FairTerms.of(1_000, WINDOW);
    for (int i = 0; i < tenants; i++) {
      lease(stored, name, tenant("t" + i, 1, true, terms), END, 1, null);
    }
    redis.command("CONFIG", "RESETSTAT");
    lease(stored, name, tenant("t0", 1, true, terms), END + WINDOW, 5, null);
    lease(stored, name, tenant("t1", 1, true, terms), END + WINDOW, 500, null);
    return commands();
  }

  @Test
  void evictsTenantsOfTheWindowBeforeWithoutASearchFromItsBeginning() {
    FairTerms terms = FairTerms.of(1_000, WINDOW).withMaxTenants(60);
    for (int i = 0; i < 60; i++) {
      lease(stored, "a", tenant("t" + i, 1, true, terms), END, 1, null);
    }
    clock.advance(WINDOW);
    for (int i = 0; i < 50; i++) {
      lease(stored, "a", tenant("new" + i, 1, true, terms), END + WINDOW, 1, null);
    }
    redis.command("CONFIG", "RESETSTAT");
    lease(stored, "a", tenant("last", 1, true, terms), END + WINDOW, 1, null);
    assertThat(commands()).isLessThan(60);
  }

  private static long commands() {
    long commands = 0;
    for (Matcher found = CALLS.matcher(redis.command("INFO", "commandstats")); found.find(); ) {
      commands += Long.parseLong(found.group(2));
    }
    return commands;
  }

  @Test
  void poolsExpireAfterTheWindowThatNeedsTheirTenants() {
    FairTerms terms = FairTerms.of(100, WINDOW);
    lease(stored, "a", tenant("t", 1, true, terms), END, 5, null);
    lease(stored, "a", tenant("t", 1, true, terms), END + WINDOW, 5, null);
    List<String> keys = redis.command("KEYS", "tkf1:*").lines().toList();
    assertThat(keys).filteredOn(key -> key.contains("pool") || key.contains("order")).hasSize(4);
    long slack = 3_600_000; // of a test's clock
    for (String key : keys) {
      if (key.contains("pool") || key.contains("order") || key.contains("amounts")) {
        assertThat(Long.parseLong(redis.command("PTTL", key)) - slack)
            .as(key)
            .isBetween(0L, 3 * WINDOW);
      }
    }
    clock.advance(3 * WINDOW);
    lease(stored, "a", tenant("t", 1, true, terms), END + 3 * WINDOW, 5, null);
    assertThat(redis.command("KEYS", "tkf1:*pool*").lines()).as("one has been replaced").hasSize(2);
  }

  @Test
  void leasesNothingOfWindowsWhoseDataWereLostIfTheRuleDenies() {
    FairTenant tenant = tenant("t", 1, true, FairTerms.of(100, WINDOW));
    lease(stored, "a", tenant, END, 5, null);
    redis.flush();
    BudgetLease denied =
        new BudgetLease(budget("a", tenant), "eu", END, 5, DataLoss.DENY, null, tenant);
    assertThat(answer(stored.lease(denied)).units()).isZero();
    BudgetReturn back = new BudgetReturn(budget("a", tenant), "eu", "1", END, 5, tenant);
    assertThat(answer(stored.reconcile(back))).as("may be of an unknown lease").isFalse();
    assertThat(lease(stored, "a", tenant, END, 100, null).units()).as("refilled").isEqualTo(100);
  }

  @Test
  void aTenantThatIsEvictedFromThisWindowIsEvictedFromTheNext() {
    FairTerms three = FairTerms.of(100, WINDOW).withMaxTenants(3);
    FairTenant b = tenant("b", 1, true, three);
    lease(stored, "a", tenant("a", 1, true, three), END, 1, null);
    clock.advance(WINDOW);
    lease(stored, "a", tenant("unlisted", 1, false, three), END + WINDOW, 1, null);
    lease(stored, "a", b, END + WINDOW, 1, null);
    lease(stored, "a", b, END + 2 * WINDOW, 1, null);
    lease(stored, "a", tenant("c", 1, true, three), END + WINDOW, 1, null);
    assertThat(lease(stored, "a", b, END + 2 * WINDOW, 100, null).units())
        .as("half of the limit, less 1")
        .isEqualTo(49);
  }

  @Test
  void aRepeatedCallThatGotNothingGetsNothing() {
    FairTenant tenant = tenant("a", 1, true, FairTerms.of(100, WINDOW));
    CallId id = new CallId(7, 2);
    assertThat(lease(stored, "a", tenant, END, 100, new CallId(7, 1)).units()).isEqualTo(100);
    assertThat(lease(stored, "a", tenant, END, 10, id).units()).isZero();
    answer(stored.reconcile(new BudgetReturn(budget("a", tenant), "eu", "1", END, 50, tenant)));
    assertThat(lease(stored, "a", tenant, END, 10, id).units()).isZero();
    assertThat(lease(stored, "a", tenant, END, 10, new CallId(7, 3)).units()).isEqualTo(10);
  }

  @Test
  void evictedTenantsLeaveNothing() {
    FairTerms three = FairTerms.of(100, WINDOW).withMaxTenants(3);
    for (int i = 0; i < 20; i++) {
      clock.advance(i == 10 ? WINDOW : 0);
      long end = i < 10 ? END : END + WINDOW;
      CallId id = new CallId(i, 1);
      lease(stored, "a", tenant("invented" + i, 1, false, three), end, 1, id);
    }
    List<String> hashes =
        redis
            .command("KEYS", "tkf1:*")
            .lines()
            .filter(key -> redis.command("TYPE", key).equals("hash"))
            .toList();
    int names = 0;
    for (String key : hashes) {
      names += redis.command("HKEYS", key).split("invented", -1).length - 1;
    }
    assertThat(names).as("of each window, and marks of those of the window before").isEqualTo(9);
  }

  private void compare(long seed) {
    SplittableRandom random = new SplittableRandom(seed);
    GlobalCoordinator memory = new InMemoryCoordinator(clock);
    String name = "s" + seed;
    // With few tenants, those that are evicted from this window are evicted from the next, too.
    int maxTenants = seed % 2 == 0 ? 100 : 2 + random.nextInt(6);
    FairTerms terms =
        FairTerms.of(100, WINDOW)
            .withMaxTenants(maxTenants)
            .withUnlistedMillionths(random.nextInt(FairTerms.ALL));
    for (int step = 0; step < 250; step++) {
      String at = "seed %d, step %d".formatted(seed, step);
      clock.advance(random.nextInt(12) == 0 ? random.nextLong(WINDOW) : 0);
      long current = clock.wallMillis() - clock.wallMillis() % WINDOW + WINDOW;
      long end = current + (maxTenants == 100 && random.nextInt(3) == 0 ? WINDOW : 0);
      int which = random.nextInt(8);
      long weight = random.nextInt(10) == 0 ? 1 + random.nextInt(9) : 1 + which / 2;
      boolean listed = random.nextInt(20) == 0 || which % 3 > 0;
      FairTenant tenant = tenant("t" + which, weight, listed, terms);
      long units = 1L + random.nextInt(random.nextInt(5) == 0 ? 120 : 20);
      if (random.nextInt(5) == 0) {
        BudgetReturn back =
            new BudgetReturn(budget(name, tenant), "eu", "r" + step, end, units, tenant);
        for (int copies = 1 + random.nextInt(2); copies > 0; copies--) {
          assertThat(answer(stored.reconcile(back)))
              .as(at)
              .isEqualTo(answer(memory.reconcile(back)));
        }
      } else {
        CallId id = random.nextInt(4) == 0 ? null : new CallId(7, ++calls);
        for (int copies = id == null ? 1 : 1 + random.nextInt(2); copies > 0; copies--) {
          LeaseGrant grant = lease(stored, name, tenant, end, units, id);
          assertThat(grant).as(at).isEqualTo(lease(memory, name, tenant, end, units, id));
          granted += grant.units() > 0 ? 1 : 0;
          refused += grant.units() == 0 ? 1 : 0;
        }
      }
    }
    memory.close();
  }

  private static LeaseGrant lease(
      GlobalCoordinator from,
      String name,
      FairTenant tenant,
      long end,
      long units,
      @Nullable CallId id) {
    Budget budget = budget(name, tenant);
    return answer(
        from.lease(new BudgetLease(budget, "eu", end, units, DataLoss.REFILL, id, tenant)));
  }

  private static Budget budget(String name, FairTenant tenant) {
    FixedWindow window = new FixedWindow(tenant.terms().limit(), WINDOW);
    CounterKey pool = CounterKey.of("shop/fair/" + WINDOW, "api", name);
    return new Budget(pool, window, new Terms("shop", List.of(window)));
  }

  private static FairTenant tenant(String name, long weight, boolean listed, FairTerms terms) {
    CounterKey key = CounterKey.of("shop/tenants/" + WINDOW, "api", "x", "org", name);
    return new FairTenant(key, new TenantWeight(weight, listed), terms);
  }
}
