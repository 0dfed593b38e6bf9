package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.Decision;
import io.throttlekit.ManualTime;
import io.throttlekit.Overrun;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Charge;
import io.throttlekit.store.Claim;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.testkit.redis.RealRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The keys of a pool, and what its decisions cost Redis. */
@RealRedis
class RedisFairStoreTest {
  private static final long MINUTE = 60_000;
  private static final long START = 1_700_000_000_000L / MINUTE * MINUTE + 1_000;
  private static final CounterKey POOL = CounterKey.of("shop|fair_window|60000", "api", "x");
  private static final Pattern CALLS = Pattern.compile("cmdstat_([a-z]+):calls=(\\d+)");
  @RegisterExtension private static final OneRedis redis = new OneRedis();

  private final ManualTime clock = new ManualTime(START);
  private final FairTerms terms = FairTerms.of(100, MINUTE);
  private final List<RedisCounterStore> opened = new ArrayList<>();

  @AfterEach
  void close() {
    opened.forEach(RedisCounterStore::close);
  }

  @Test
  void keysOfAPoolExpireSoonAfterTheNextWindow() {
    long hour = StoreCalls.HOUR;
    RedisCounterStore store =
        Stores.connected(Stores.connect(Stores.longDeadlines(redis.url()).settings()));
    opened.add(store);
    for (int i = 0; i < 2; i++) {
      long reset = charge(store, tenant("a", FairTerms.of(100, hour)), 1).resetAfterMillis();
      for (String key : keys()) {
        assertThat(Long.parseLong(redis.command("PTTL", key)))
            .as(key)
            // Of Redis's clock for times to live, which may lag behind that of TIME.
            .isBetween(reset + hour - 20_000, reset + hour + 1_100);
      }
      // Without a charge, none is kept for the amounts.
      charge(store, tenant("a", FairTerms.of(100, hour)), -1);
    }
  }

  @Test
  void aPoolThatIsOnlyReadStoresNoKeys() {
    RedisCounterStore store = store();
    charge(store, tenant("a", terms), 0);
    charge(store, tenant("a", terms), -1);
    answer(store.resetTenant(POOL, tenant("a", terms)));
    assertThat(redis.command("DBSIZE")).isEqualTo("2"); // the epoch, and the server's history
  }

  @ParameterizedTest
  @ValueSource(ints = {95, 96})
  void aPoolThatCannotBeReadFailsTheRequestAndIsNamed(int length) {
    RedisCounterStore store = store();
    charge(store, tenant("a", terms), 1);
    String pool = "";
    for (String key : redis.command("KEYS", "*").lines().toList()) {
      if (redis.command("TYPE", key).strip().equals("hash")
          && redis.command("HEXISTS", key, "pool").strip().equals("1")) {
        pool = key;
      }
    }
    redis.command("HSET", pool, "pool", "x".repeat(length)); // weights of 10^233
    CompletionStage<?> answer = store.acquire(claims(tenant("a", terms), 1, DataLoss.REFILL));
    assertThat(failure(answer))
        .hasMessageContaining("has no data of a pool of tenants")
        .hasMessageContaining(pool.substring(0, 8));
  }

  @Test
  void aKeyOfAnotherTypeFailsTheRequestAndIsNamed() {
    RedisCounterStore store = store();
    charge(store, tenant("a", terms), 1);
    List<String> ofPool = new ArrayList<>();
    for (String key : redis.command("KEYS", "*").lines().toList()) {
      String type = redis.command("TYPE", key).strip();
      if (type.equals("zset")
          || (type.equals("hash") && redis.command("HEXISTS", key, "pool").strip().equals("1"))) {
        ofPool.add(key);
      }
    }
    assertThat(ofPool).hasSize(3);
    for (String key : ofPool) {
      redis.command("RENAME", key, "kept");
      redis.command("SET", key, "written by others");
      CompletionStage<?> answer = store.acquire(claims(tenant("b", terms), 1, DataLoss.REFILL));
      assertThat(failure(answer))
          .hasMessageContaining("the key " + key.replaceAll("[^ -~]", "?"))
          .hasMessageContaining(" has no data of a pool of tenants: WRONGTYPE");
      redis.command("RENAME", "kept", key);
    }
  }

  @Test
  void aDecisionVisitsNoOtherTenants() {
    RedisCounterStore store = store();
    int few = commandsOfDecisions(store, 10);
    int many = commandsOfDecisions(store, 2_000);
    assertThat(many).isLessThanOrEqualTo(few + 4).isLessThan(60);
  }

  /** Returns how many commands decisions take after that many tenants have used as much. */
  private int commandsOfDecisions(RedisCounterStore store, int tenants) {
    clock.advance(10 * MINUTE);
    FairTerms of = FairTerms.of(10L * tenants, MINUTE);
    fill(store, of, tenants);
    redis.command("CONFIG", "RESETSTAT");
    charge(store, tenant("t0", of), 6); // beyond its guarantee
    // The guarantee of all others falls to what they have used, and below it.
    charge(store, new FairTenant(key("late"), TenantWeight.listed(tenants), of), 20_000);
    charge(store, tenant("later", of), 9);
    charge(store, tenant("t0", of), 20_000);
    charge(store, tenant("t0", of), 0);
    clock.advance(MINUTE);
    charge(store, tenant("t0", of), 5);
    return commands();
  }

  @Test
  void repeatedRefusalsComputeTheReserveOnce() {
    RedisCounterStore store = store();
    FairTerms of = FairTerms.of(640_000, MINUTE);
    List<Claim> amounts = new ArrayList<>();
    for (int i = 0; i < 640; i++) {
      amounts.addAll(claims(tenant("t" + i, of), 1 + i, DataLoss.REFILL));
    }
    answer(store.acquire(amounts));
    assertThat(charge(store, tenant("t0", of), 1_000).admitted()).as("1 is borrowed").isTrue();
    charge(store, new FairTenant(key("late"), TenantWeight.listed(640), of), 640_000);
    assertThat(charge(store, tenant("t0", of), 2).admitted()).isFalse();
    redis.command("CONFIG", "RESETSTAT");
    assertThat(charge(store, tenant("t0", of), 2).admitted()).isFalse();
    assertThat(redis.command("INFO", "commandstats")).contains("hget").doesNotContain("lex");
  }

  @Test
  void forgetsTenantsOfEarlierWindowsWhenOthersCome() {
    RedisCounterStore store = store();
    fill(store, terms, 300);
    clock.advance(2 * MINUTE);
    for (int i = 0; i < 160; i++) {
      charge(store, tenant("new" + i, terms), 1);
    }
    for (String key : List.of("tk1:" + POOL, order())) {
      String size = redis.command(key.equals(order()) ? "ZCARD" : "HLEN", key);
      assertThat(Integer.parseInt(size)).as(key).isBetween(160, 161);
    }
  }

  @Test
  void evictsForATenantThatComesBackAfterAWindowWithoutRequests() {
    RedisCounterStore store = store();
    FairTerms two = terms.withMaxTenants(2);
    charge(store, tenant("a", two), 1);
    clock.advance(2 * MINUTE);
    List<Claim> together = new ArrayList<>();
    for (String name : List.of("b", "c", "a")) {
      together.addAll(claims(tenant(name, two), 1, DataLoss.REFILL));
    }
    assertThat(answer(store.acquire(together)).decisions())
        .extracting(Decision::limit)
        .as("b was evicted")
        .containsExactly(100L, 50L, 50L);
  }

  @Test
  void aLowerBoundOfTenantsIsReachedInManyRequests() {
    RedisCounterStore store = store();
    fill(store, terms, 300);
    FairTerms ten = terms.withMaxTenants(10);
    int before = 300;
    for (int i = 0; i < 40; i++) {
      redis.command("CONFIG", "RESETSTAT");
      charge(store, tenant("new" + i, ten), 1);
      assertThat(commands()).as("of a request").isLessThan(120);
      int remembered = Integer.parseInt(redis.command("ZCARD", order()));
      assertThat(remembered).isBetween(10, Math.max(10, before - 1));
      before = remembered;
    }
    assertThat(before).isEqualTo(10);
    fill(store, terms, 300);
    clock.advance(2 * MINUTE); // they are not active any more
    charge(store, tenant("a", ten), 1);
    assertThat(Integer.parseInt(redis.command("ZCARD", order()))).isGreaterThan(250);
  }

  @Test
  void aRefusedRequestUsesNothingOfATenantThatItEvictedAndThatCameBack() {
    RedisCounterStore store = store();
    FairTerms one = terms.withMaxTenants(1);
    List<Claim> together = new ArrayList<>();
    for (String name : List.of("a", "b", "a")) {
      together.addAll(claims(tenant(name, one), 20, DataLoss.REFILL));
    }
    together.addAll(claims(tenant("a", one), 200, DataLoss.REFILL));
    assertThat(answer(store.acquire(together)).admitted()).isFalse();
    assertThat(charge(store, tenant("a", one), 100).admitted()).isTrue();
  }

  @Test
  void aPoolWhoseOrderWasEvictedStillDecides() {
    RedisCounterStore store = store();
    FairTerms one = terms.withMaxTenants(1);
    charge(store, tenant("a", one), 1);
    redis.command("DEL", order());
    assertThat(charge(store, tenant("b", one), 1).admitted()).isTrue();
  }

  @Test
  void aPoolThatWasEvictedBeginsWithoutWhatIsLeftOfIt() {
    RedisCounterStore store = store();
    FairTerms two = terms.withMaxTenants(2);
    charge(store, tenant("a", two), 60);
    charge(store, tenant("b", two), 40);
    redis.command("DEL", "tk1:" + POOL);
    charge(store, tenant("c", two), 1);
    charge(store, tenant("d", two), 1);
    assertThat(charge(store, tenant("c", two), 95).admitted()).as("46 are borrowed").isTrue();
    assertThat(redis.command("ZCARD", order())).isEqualTo("2");
  }

  @Test
  void refusesAndLeasesNothingAfterALossUntilTheWindowEndsIfTheRuleDenies() {
    RedisCounterStore store = store();
    FairTenant a = tenant("a", terms);
    charge(store, a, 1);
    redis.flush();
    long untilEnd = MINUTE - 1_000;
    assertThat(decision(store, a, 1, DataLoss.DENY))
        .isEqualTo(Decision.refuse(100, 0, untilEnd, untilEnd));
    LeaseRequest lease =
        new LeaseRequest(POOL, new FixedWindow(100, MINUTE), 5, DataLoss.DENY).of(a);
    assertThat(answer(store.lease(lease)).units()).isZero();
    assertThat(charge(store, a, 0).remaining()).as("nothing was counted").isEqualTo(100);
    clock.advance(untilEnd);
    assertThat(decision(store, a, 1, DataLoss.DENY).admitted()).isTrue();
    assertThat(answer(store.lease(lease)).units()).isEqualTo(5);
  }

  /** The rights are those in docs/SECURITY.md. */
  @Test
  void needsNoOtherRights() {
    String rights =
        "ACL SETUSER tenants reset on >secret ~tk1:* +@connection +evalsha +eval +script|load +time"
            + " +get +set +del +info +hget +hset +hdel +pexpire"
            + " +unlink +zadd +zrem +zrangebyscore +zrangebylex +zlexcount";
    redis.command(rights.split(" "));
    RedisCounterStore store =
        Stores.open("redis://tenants:secret@127.0.0.1:" + redis.port(), clock);
    opened.add(store);
    commandsOfDecisions(store, 100);
    answer(store.resetTenant(POOL, tenant("t0", terms)));
    charge(store, tenant("t1", terms.withMaxTenants(1)), 5);
    clock.advance(2 * MINUTE);
    charge(store, tenant("t2", terms), 5);
    assertThat(redis.command("INFO", "commandstats"))
        .contains("unlink", "zadd", "zrem", "zrangebyscore", "zrangebylex", "zlexcount", "hdel");
  }

  private void fill(RedisCounterStore store, FairTerms of, int tenants) {
    List<CompletionStage<?>> charges = new ArrayList<>();
    for (int i = 0; i < tenants; i++) {
      charges.add(store.acquire(claims(tenant("t" + i, of), 5, DataLoss.REFILL)));
    }
    charges.forEach(StoreCalls::answer);
  }

  private static int commands() {
    int calls = 0;
    for (Matcher found = CALLS.matcher(redis.command("INFO", "commandstats")); found.find(); ) {
      calls += Integer.parseInt(found.group(2));
    }
    return calls;
  }

  private static Decision charge(RedisCounterStore store, FairTenant tenant, long cost) {
    return decision(store, tenant, cost, DataLoss.REFILL);
  }

  private static Decision decision(
      RedisCounterStore store, FairTenant tenant, long cost, DataLoss onDataLoss) {
    return answer(store.acquire(claims(tenant, cost, onDataLoss))).decisions().getFirst();
  }

  private static List<Claim> claims(FairTenant tenant, long cost, DataLoss onDataLoss) {
    FixedWindow window = new FixedWindow(tenant.terms().limit(), tenant.terms().windowMillis());
    Charge charge = new Charge(POOL, window, cost, Overrun.REFUSE, tenant);
    return List.of(new Claim(Claim.Role.ENFORCED, List.of(charge), onDataLoss));
  }

  private static FairTenant tenant(String name, FairTerms of) {
    return new FairTenant(key(name), TenantWeight.listed(1), of);
  }

  private static CounterKey key(String name) {
    return CounterKey.of("shop|tenants|60000", "api", "x", "org", name);
  }

  private static List<String> keys() {
    return List.of("tk1:" + POOL, order(), "tk1:epoch:amounts|" + POOL);
  }

  private static String order() {
    return "tk1:epoch:order|" + POOL;
  }

  private RedisCounterStore store() {
    RedisCounterStore store = Stores.open(redis.url(), clock);
    opened.add(store);
    return store;
  }
}
