package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.FIVE;
import static io.throttlekit.redis.StoreCalls.acquire;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.claim;
import static io.throttlekit.redis.StoreCalls.grant;
import static io.throttlekit.redis.StoreCalls.key;
import static io.throttlekit.redis.StoreCalls.left;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.throttlekit.DataLoss;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.RateAlgorithm;
import io.throttlekit.store.Claim;
import io.throttlekit.store.InMemoryStore;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.Persistence.Cause;
import io.throttlekit.store.Persistence.Gap;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongSupplier;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Counters in a Cluster of three masters. */
@RealRedis
class RedisClusterTest {
  private static RedisNodes nodes;
  private static RedisCounterStore store;

  @BeforeAll
  static void start() {
    nodes = RedisNodes.start();
    store = Stores.connected(Stores.connect(settings()));
  }

  private static RedisSettings settings() {
    return Wanted.cluster(nodes.urls())
        .deadlines(10_000, 10_000)
        .breaker(1000, 60_000, 10)
        .settings();
  }

  @AfterAll
  static void stop() {
    store.close();
    nodes.close();
  }

  @Test
  void reportsExactlyTheMissingRightsOfItsUser() {
    assertThat(gapsFor("+@all"))
        .extracting(Gap::cause, Gap::found)
        .containsExactly(tuple(Cause.FAILOVER, "replication in a Cluster is asynchronous"));
    assertThat(gapsFor("+@all", "-info", "-config"))
        .extracting(Gap::cause, Gap::found)
        .containsExactly(
            tuple(Cause.FAILOVER, "replication in a Cluster is asynchronous"),
            tuple(Cause.UNNOTICED, "the user may not call INFO"),
            tuple(Cause.EVICTION, "maxmemory-policy cannot be read"));
  }

  /** Returns what a store reports whose user has these rights on every node. */
  private static List<Gap> gapsFor(String... rights) {
    for (RedisProcess node : nodes.masters()) {
      List<String> user = new ArrayList<>(List.of("ACL", "SETUSER", "limits", "reset", "on"));
      user.addAll(List.of(">word", "~*"));
      user.addAll(List.of(rights));
      node.command(user.toArray(String[]::new));
    }
    String urls = nodes.urls().replace("redis://", "redis://limits:word@");
    RecordingListener listener = new RecordingListener();
    try (RedisCounterStore limited =
        RedisCounterStore.connect(
            Wanted.cluster(urls).deadlines(10_000, 10_000).settings(),
            TimeSource.system(),
            listener,
            null)) {
      StoreCalls.await(
          "settings read", () -> StoreCalls.answers(limited) && !listener.persistence.isEmpty());
      return listener.persistence.getLast().gaps();
    }
  }

  @Test
  void spreadsTheCountersOfOneDomain() {
    List<CompletableFuture<Outcome>> asked = new ArrayList<>();
    for (int i = 0; i < 300; i++) {
      asked.add(StoreCalls.ask(store, "spread" + i, 1).toCompletableFuture());
    }
    asked.forEach(each -> assertThat(answer(each).admitted()).isTrue());
    for (RedisProcess node : nodes.masters()) {
      assertThat(Integer.parseInt(node.command("DBSIZE"))).isGreaterThan(100);
    }
    assertThat(grant(store, "spread7", 9).units()).isEqualTo(4);
  }

  @Test
  void findsLongKeysWithAnyBraces() {
    for (String part : List.of("{", "}", "{}", "{a}", "}{")) {
      String user = part.repeat(20_000 / part.length());
      acquire(store, user, 2);
      assertThat(left(store, user)).isEqualTo(3);
      assertThat(left(store, user + 'x')).isEqualTo(5);
    }
    List<Claim> all = List.of(enforced("{l}".repeat(99), 2), enforced("{l}".repeat(98), 2));
    assertThat(answer(store.acquire(all)).admitted()).isTrue();
    assertThat(left(store, "{l}".repeat(99))).isEqualTo(3);
  }

  @Test
  void chargesARequestOverSeveralSlotsAsOne() {
    List<Claim> all = List.of(enforced("m1", 2), enforced("m2", 2), enforced("m3", 2));
    assertThat(answer(store.acquire(all)).admitted()).isTrue();
    assertThat(List.of(left(store, "m1"), left(store, "m2"), left(store, "m3"))).containsOnly(3L);
  }

  @Test
  void refundsEarlierSlotsWhenALaterOneRefuses() {
    List<String> users =
        new ArrayList<>(List.of("r1", "r2", "r3", "r4"))
            .stream().sorted(Comparator.comparingInt(RedisClusterTest::slot)).toList();
    acquire(store, users.getLast(), 5);
    Outcome refused = answer(store.acquire(users.stream().map(user -> enforced(user, 2)).toList()));
    assertThat(refused.admitted()).isFalse();
    assertThat(refused.decisions()).extracting("admitted").containsExactly(true, true, true, false);
    assertThat(refused.decisions()).extracting("remaining").containsExactly(5L, 5L, 5L, 0L);
    assertThat(users.subList(0, 3)).allSatisfy(user -> assertThat(left(store, user)).isEqualTo(5));
  }

  static List<RateAlgorithm<?>> algorithms() {
    return RedisRefundTest.algorithms();
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void aChargeIsNotRefundedToALaterWindow(RateAlgorithm<?> perMinute) {
    Slots slots = new Slots(new KeyText(""), true);
    List<String> users =
        Stream.of("w1", "w2")
            .sorted(Comparator.comparingInt(user -> slots.of(key(perMinute, user))))
            .toList();
    String first = users.getFirst();
    long end = 1_700_000_040_000L;
    AtomicInteger asked = new AtomicInteger();
    try (RedisCounterStore others = Stores.connected(Stores.withClock(settings(), at(() -> end)));
        RedisCounterStore own =
            Stores.connected(
                Stores.withClock(
                    settings(),
                    at(() -> {
                      if (asked.incrementAndGet() <= 3) {
                        return end - 60_001;
                      }
                      assertThat(charged(others, perMinute, first, 3)).isEqualTo(2);
                      return end; // a return that arrives when everything is paid off
                    })))) {
      assertThat(charged(own, perMinute, users.getLast(), 5)).isZero();
      List<Claim> both =
          users.stream().map(user -> claim(perMinute, user, 2, DataLoss.REFILL)).toList();
      assertThat(answer(own.acquire(both)).admitted()).isFalse();
      assertThat(asked).as("the refund").hasValue(4);
      assertThat(charged(others, perMinute, first, 0)).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @MethodSource("algorithms")
  void everyAlgorithmRefundsEarlierSlots(RateAlgorithm<?> perMinute) {
    List<Claim> all = new ArrayList<>();
    for (int i = 0; i < 4; i++) {
      all.add(claim(perMinute, "every" + i, i == 3 ? 6 : 2, DataLoss.REFILL));
    }
    assertThat(answer(store.acquire(all)).admitted()).isFalse();
    for (int i = 0; i < 4; i++) {
      String user = "every" + i; // a rest may be left that a ms pays off
      StoreCalls.await("refunded", () -> charged(store, perMinute, user, 0) == 5);
    }
  }

  private static long charged(
      RedisCounterStore by, RateAlgorithm<?> algorithm, String user, long cost) {
    Outcome outcome = answer(by.acquire(List.of(claim(algorithm, user, cost, DataLoss.REFILL))));
    return outcome.decisions().getFirst().remaining();
  }

  private static TimeSource at(LongSupplier millis) {
    return new TimeSource() {
      @Override
      public long wallMillis() {
        return millis.getAsLong();
      }

      @Override
      public long monotonicNanos() {
        return 0;
      }
    };
  }

  @Test
  void decidesOverSeveralSlotsLikeTheStoreInMemory() {
    InMemoryStore reference = new InMemoryStore(TimeSource.system(), 100_000);
    for (long seed = 0; seed < 10; seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      for (int step = 0; step < 60; step++) {
        List<Claim> claims = new ArrayList<>();
        for (int c = 1 + random.nextInt(4); c > 0; c--) {
          String user = "like" + seed + '/' + random.nextInt(6);
          Claim.Role role = List.of(Claim.Role.values()).get(random.nextInt(3));
          Claim one = claim(FIVE, user, random.nextInt(4) - 1L, DataLoss.REFILL);
          claims.add(new Claim(role, one.charges()));
        }
        Outcome there = answer(store.acquire(claims));
        Outcome here = reference.decide(claims);
        assertThat(there.admitted())
            .as("seed %s step %s: %s", seed, step, claims)
            .isEqualTo(here.admitted());
        for (int user = 0; user < 6; user++) {
          String name = "like" + seed + '/' + user;
          assertThat(left(store, name))
              .as("seed %s step %s: %s left of %s", seed, step, claims, name)
              .isEqualTo(left(reference, name));
        }
      }
    }
  }

  private static int slot(String user) {
    return new Slots(new KeyText(""), true).of(key(FIVE, user));
  }

  private static Claim enforced(String user, long cost) {
    return claim(FIVE, user, cost, DataLoss.REFILL);
  }
}
