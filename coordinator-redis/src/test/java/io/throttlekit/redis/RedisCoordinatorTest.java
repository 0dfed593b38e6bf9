package io.throttlekit.redis;

import static io.throttlekit.redis.Leased.budget;
import static io.throttlekit.redis.Leased.five;
import static io.throttlekit.redis.Leased.lease;
import static io.throttlekit.redis.Leased.returnUnits;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.Transports;
import io.netty.channel.EventLoop;
import io.netty.channel.EventLoopGroup;
import io.throttlekit.Cost;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.TermsMismatchException;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.redis.RealRedis;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests the coordinator on Redis beyond the conformance suite. */
@RealRedis
class RedisCoordinatorTest {
  /** Texts that would be equal if they were only concatenated. */
  static final List<String> STRANGE =
      List.of(
          "",
          " ",
          "  ",
          "\n",
          "\r\n",
          "\0",
          "a",
          "a ",
          "a|1:b",
          "1:a",
          "a:b",
          "{",
          "}",
          "{}",
          "}{",
          "{a}",
          "{b}",
          "{a}b",
          "{}a",
          "%7D",
          "*",
          "\u00fc",
          "u\u0308",
          "\u20ac",
          "\ud83d\ude00",
          "\ud83d",
          "\ude00",
          "?",
          "\ufffd");

  @RegisterExtension private static final OneRedis redis = new OneRedis();
  private static final long WINDOW = 10_000;
  private static final long END = 1_700_000_010_000L;

  private final List<AutoCloseable> opened = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
  }

  @Test
  void grantsTheLargestNumbersExactly() {
    RedisGlobalCoordinator coordinator = open();
    Budget all = budget("a", Cost.MAX, StoreCalls.FIVE.windowMillis());
    assertThat(lease(coordinator, all, 3).left()).isEqualTo(Cost.MAX - 3);
    LeaseGrant rest = lease(coordinator, all, Cost.MAX);
    assertThat(rest.units()).isEqualTo(Cost.MAX - 3);
    assertThat(lease(coordinator, all, 1).units()).isZero();
    answer(returnUnits(coordinator, all, "eu", "1", rest));
    assertThat(lease(coordinator, all, 1).left()).isEqualTo(Cost.MAX - 4);
  }

  @Test
  void namesWithSpecialCharactersNeverCollide() {
    RedisGlobalCoordinator coordinator = open();
    long window = StoreCalls.FIVE.windowMillis();
    for (String text : STRANGE) {
      for (Budget budget :
          List.of(
              budget("shop", window, 1, "user", text),
              budget("shop", window, 1, text, "user"),
              budget("shop", window, 1, "user", text, "x", "y"),
              budget("domain" + text, window, 1, "user", "a"))) {
        assertThat(lease(coordinator, budget, 2).units()).as("'%s'", text).isEqualTo(1);
      }
    }
  }

  @Test
  void returnsOfRegionsWithSpecialCharactersNeverCollide() {
    RedisGlobalCoordinator coordinator = open();
    int returns = STRANGE.size() * STRANGE.size();
    Budget budget = budget("a", returns, StoreCalls.FIVE.windowMillis());
    LeaseGrant all = lease(coordinator, budget, returns);
    LeaseGrant one = new LeaseGrant(1, all.windowEndMillis(), 0, 0);
    for (String region : STRANGE) {
      for (String id : STRANGE) {
        answer(returnUnits(coordinator, budget, region, id, one));
      }
    }
    assertThat(lease(coordinator, budget, returns + 1).units()).isEqualTo(returns);
  }

  @Test
  void termsAreKeptForRegionsWithSpecialCharacters() {
    RedisGlobalCoordinator coordinator = open();
    for (String region : STRANGE) {
      Budget six = budget("of " + region, 6, StoreCalls.FIVE.windowMillis());
      answer(coordinator.lease(Leased.of(six, region, 1)));
      for (String other : STRANGE) {
        Budget seven = budget("of " + region, 7, StoreCalls.FIVE.windowMillis());
        if (!other.equals(region)) {
          assertThat(failure(coordinator.lease(Leased.of(seven, other, 1))))
              .as("'%s' and '%s'", region, other)
              .isInstanceOf(TermsMismatchException.class);
        }
      }
    }
  }

  @Test
  void keysExpireAfterTheirLastWindow() {
    RedisGlobalCoordinator coordinator = open();
    Budget budget = budget("a", 100, 60_000);
    LeaseGrant grant = lease(coordinator, budget, 1);
    long next = grant.windowEndMillis() + 60_000;
    LeaseGrant ofNext =
        answer(coordinator.lease(new BudgetLease(budget, "eu", next, 1, DataLoss.REFILL)));
    long left = next - ofNext.storeNowMillis();
    List<Long> lasts =
        redis
            .command("KEYS", "*")
            .lines()
            .filter(key -> !key.contains("epoch"))
            .map(key -> Long.parseLong(redis.command("PTTL", key)))
            .sorted()
            .toList();
    assertThat(lasts).as("two windows, and the terms").hasSize(3);
    // Redis counts a time to live from a clock of its own, which it rounds to ms apart from TIME.
    long most = 10_000 + 2;
    assertThat(lasts.get(0)).isBetween(left - 60_000 - 10_000, left - 60_000 + most);
    assertThat(lasts.subList(1, 3))
        .allSatisfy(last -> assertThat(last).isBetween(left - 10_000, left + most));
  }

  @Test
  void aClockStepBackGrantsNoWindowTwice() {
    ManualTime clock = new ManualTime(END - 1);
    RedisGlobalCoordinator coordinator = open(clock);
    Budget hundred = budget("a", 100, WINDOW);
    lease(coordinator, hundred, 100);
    clock.setWall(END);
    long afterNext = END + 2 * WINDOW; // shares the row of the window that has just ended
    answer(coordinator.lease(new BudgetLease(hundred, "eu", afterNext, 40, DataLoss.REFILL)));
    clock.setWall(END - 1);
    assertThat(lease(coordinator, hundred, 100))
        .as("the newest window seen, which has just begun")
        .isEqualTo(new LeaseGrant(100, END + WINDOW, END, 0));
    assertThat(
            answer(coordinator.lease(new BudgetLease(hundred, "eu", END, 1, DataLoss.REFILL)))
                .units())
        .isZero();
    clock.setWall(END + WINDOW);
    assertThat(lease(coordinator, hundred, 100).units()).isEqualTo(60);
  }

  @Test
  void nothingIsReturnedToAWindowSeenToEnd() {
    ManualTime clock = new ManualTime(END - 1);
    RedisGlobalCoordinator coordinator = open(clock);
    Budget hundred = budget("a", 100, WINDOW);
    LeaseGrant grant = lease(coordinator, hundred, 100);
    clock.setWall(END);
    lease(coordinator, hundred, 1);
    clock.setWall(END - 1);
    assertThat(answer(returnUnits(coordinator, hundred, "eu", "1", grant))).isFalse();
  }

  @Test
  void termsLastAsLongAsTheLatestLeasedWindow() {
    ManualTime clock = new ManualTime(END - 1);
    RedisGlobalCoordinator coordinator = open(clock);
    Budget budget = budget("a", 100, WINDOW);
    answer(coordinator.lease(new BudgetLease(budget, "eu", END + WINDOW, 1, DataLoss.REFILL)));
    lease(coordinator, budget, 1); // of the previous window
    List<Long> lasts =
        redis
            .command("KEYS", "*terms*")
            .lines()
            .map(key -> Long.parseLong(redis.command("PTTL", key)))
            .toList();
    assertThat(lasts).singleElement().satisfies(last -> assertThat(last).isGreaterThan(3_605_000));
    clock.setWall(END + WINDOW - 1);
    Budget other = budget("a", 200, WINDOW);
    assertThat(failure(coordinator.lease(Leased.of(other, "us", 1))))
        .isInstanceOf(TermsMismatchException.class);
    clock.setWall(END + WINDOW);
    assertThat(answer(coordinator.lease(Leased.of(other, "us", 1))).units()).isEqualTo(1);
  }

  @Test
  void requestedTermsAreStoredOnlyWhileTheyDifferFromTheTermsInEffect() {
    RedisGlobalCoordinator coordinator = open();
    Budget old = budget("a", 100, 60_000);
    Budget changed = budget("a", 200, 60_000);
    LeaseGrant grant = lease(coordinator, old, 1);
    answer(coordinator.lease(Leased.of(old, "us", 1)));
    assertThat(redis.command("KEYS", "*asked*")).as("all request the terms in force").isEmpty();
    assertThat(failure(coordinator.lease(Leased.of(changed, "us", 1))))
        .isInstanceOf(TermsMismatchException.class);
    String asked = redis.command("KEYS", "*asked*").strip();
    assertThat(redis.command("HGETALL", asked).lines()).containsExactly("us", "200/60000");
    long left = grant.windowEndMillis() - grant.storeNowMillis();
    assertThat(Long.parseLong(redis.command("PTTL", asked)))
        .isBetween(left - 10_000, left + 10_000);
    lease(coordinator, changed, 1);
    assertThat(redis.command("KEYS", "*asked*")).as("all have changed").isEmpty();
    assertThat(redis.command("HVALS", redis.command("KEYS", "*terms*").strip()).lines())
        .as("as the previous release stores it")
        .hasSize(2)
        .allMatch(terms -> terms.matches("\\d+ 200/60000"));
  }

  @Test
  void answersOnTheEventLoopOfTheCaller() throws Exception {
    EventLoopGroup group =
        new DefaultEventLoopGroupProvider(2).allocate(Transports.eventLoopGroupClass());
    try {
      RedisGlobalCoordinator coordinator =
          RedisGlobalCoordinator.connect(
              Stores.longDeadlines(redis.url()).settings(),
              TimeSource.system(),
              StoreListener.NONE,
              group);
      Stores.awaitReady(coordinator.ready());
      EventLoop asking = group.next();
      CompletableFuture<Boolean> onLoop = new CompletableFuture<>();
      asking.execute(() ->
          coordinator
              .lease(Leased.of(five("a"), "eu", 1))
              .whenComplete((_, _) -> onLoop.complete(asking.inEventLoop())));
      assertThat(answer(onLoop)).isTrue();
      coordinator.close();
      answer(coordinator.ended().thenApply(_ -> true));
      assertThat(group.isShuttingDown()).isFalse();
    } finally {
      group.shutdownGracefully(0, 1, TimeUnit.SECONDS).get();
    }
  }

  @Test
  void needsNoRightsBeyondItsOwnKeys() {
    redis.command(
        "ACL",
        "SETUSER",
        "regions",
        "reset",
        "on",
        ">secret",
        "~tkf1:*",
        "+@connection",
        "+evalsha",
        "+eval",
        "+script|load",
        "+time",
        "+get",
        "+set",
        "+del",
        "+hget",
        "+hmget",
        "+hgetall",
        "+hset",
        "+hsetnx",
        "+hdel",
        "+sadd",
        "+pexpire",
        "+info");
    Wanted wanted = Stores.longDeadlines("redis://regions:secret@127.0.0.1:" + redis.port());
    RedisGlobalCoordinator coordinator = Stores.coordinator(wanted, StoreListener.NONE);
    RedisRegionalEscrow escrow = Stores.escrow(wanted, StoreListener.NONE);
    opened.addAll(List.of(coordinator, escrow));
    LeaseGrant grant = lease(coordinator, five("a"), 3);
    assertThat(answer(returnUnits(coordinator, five("a"), "eu", "1", grant))).isTrue();
    long now = answer(escrow.health());
    answer(escrow.refill(RedisEscrowTest.refill("a", "1", now, 5)));
    assertThat(answer(escrow.lease(RedisEscrowTest.key("a"), 1)).units()).isEqualTo(1);
  }

  @Test
  void aKeyOfAnotherTypeFailsWithAMessage() {
    RedisGlobalCoordinator coordinator = open();
    lease(coordinator, five("a"), 1);
    for (String key : redis.command("KEYS", "*").lines().toList()) {
      redis.command("DEL", key);
      redis.command("SADD", key, "something");
    }
    assertThat(failure(coordinator.lease(Leased.of(five("a"), "eu", 1))))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("WRONGTYPE");
  }

  private RedisGlobalCoordinator open(ManualTime clock) {
    RedisGlobalCoordinator coordinator =
        Stores.coordinator(Stores.longDeadlines(redis.url()), clock);
    opened.add(coordinator);
    return coordinator;
  }

  private RedisGlobalCoordinator open() {
    RedisGlobalCoordinator coordinator =
        Stores.coordinator(Stores.longDeadlines(redis.url()), StoreListener.NONE);
    opened.add(coordinator);
    return coordinator;
  }
}
