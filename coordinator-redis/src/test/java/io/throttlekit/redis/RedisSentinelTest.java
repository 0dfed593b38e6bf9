package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.acquire;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.answers;
import static io.throttlekit.redis.StoreCalls.ask;
import static io.throttlekit.redis.StoreCalls.await;
import static io.throttlekit.redis.StoreCalls.failure;
import static io.throttlekit.redis.StoreCalls.left;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A master that dies and whose replica is promoted. */
@RealRedis
class RedisSentinelTest {
  /** Longer than a busy machine delays a Redis. */
  private static final long DEADLINE_MILLIS = 5_000;

  private final RedisProcess master = RedisProcess.start();
  private final RedisProcess replica =
      RedisProcess.start("--replicaof", "127.0.0.1", "" + master.port());
  private final RedisProcess sentinel = RedisProcess.start("--sentinel");
  private final RecordingListener listener = new RecordingListener();

  @AfterEach
  void stop() {
    sentinel.close();
    replica.close();
    master.close();
  }

  @Test
  void continuesWithTheNewMasterAndItsCounts() {
    monitor();
    Wanted wanted = Wanted.redis(url("")).deadlines(DEADLINE_MILLIS, DEADLINE_MILLIS);
    try (RedisCounterStore store = open(wanted)) {
      await("connected", () -> answers(store));
      acquire(store, "a", 3);
      await("known", () -> sentinel.command("SENTINEL", "REPLICAS", "main").contains("slave"));
      await("replicated", () -> replica.command("DBSIZE").equals("3"));
      master.kill();
      await("failed over", () -> answers(store));
      assertThat(replica.command("ROLE")).startsWith("master");
      assertThat(left(store, "a")).isEqualTo(2);
      assertThat(listener.losses).as("changes that were not replicated").hasSize(1);
    }
  }

  @Test
  void aFederationContinuesOnTheNewMasterWithoutTheOldOnesUnits() {
    monitor();
    Wanted wanted = Wanted.redis(url("")).deadlines(DEADLINE_MILLIS, DEADLINE_MILLIS);
    try (RedisGlobalCoordinator coordinator = Stores.coordinator(wanted, listener);
        RedisRegionalEscrow escrow = Stores.escrow(wanted, listener)) {
      await("connected", () -> Leased.answers(coordinator));
      Leased.lease(coordinator, Leased.five("a"), 3);
      long now = answer(escrow.health());
      answer(escrow.refill(RedisEscrowTest.refill("a", "1", now, 8)));
      await("known", () -> sentinel.command("SENTINEL", "REPLICAS", "main").contains("slave"));
      await("replicated", () -> replica.command("DBSIZE").equals(master.command("DBSIZE")));
      master.kill();
      await("failed over", () -> Leased.answers(coordinator));
      assertThat(replica.command("ROLE")).startsWith("master");
      assertThat(Leased.lease(coordinator, Leased.five("a"), 9).units()).isEqualTo(2);
      await("escrow recovered", () -> RedisEscrowTest.answers(escrow));
      assertThat(answer(escrow.lease(RedisEscrowTest.key("a"), 9)).units())
          .as("units that may have been spent since they were replicated")
          .isZero();
      answer(escrow.refill(RedisEscrowTest.refill("a", "2", answer(escrow.health()), 4)));
      assertThat(answer(escrow.lease(RedisEscrowTest.key("a"), 9)).units()).isEqualTo(4);
      assertThat(listener.losses).as("of the coordinator, and of the escrow").hasSize(2);
    }
  }

  @Test
  void logsInToSentinelsWithAPasswordOfTheirOwn() {
    monitor();
    sentinel.command("ACL", "SETUSER", "default", "resetpass", ">watch");
    master.command("ACL", "SETUSER", "default", "resetpass", ">count");
    charges(longDeadlines("count@").sentinelLogin("", "watch"));
    refuses(longDeadlines("count@").sentinelLogin("", "count"), "WRONGPASS");
    refuses(longDeadlines("count@"), "NOAUTH");
    refuses(longDeadlines("watch@").sentinelLogin("", "watch"), "WRONGPASS");
  }

  @Test
  void logsInToSentinelsAsAUserWithOnlyTheRightsThatItNeeds() {
    monitor();
    sentinel.command("ACL", "SETUSER", "limits", "on", ">watch", "+@connection", "+sentinel");
    sentinel.command("ACL", "SETUSER", "default", "off");
    charges(longDeadlines("").sentinelLogin("limits", "watch"));
    refuses(longDeadlines("").sentinelLogin("stranger", "watch"), "WRONGPASS");
    refuses(longDeadlines("").sentinelLogin("", "watch"), "WRONGPASS");
  }

  @Test
  void disconnectsFromAMasterReplacedWhileAlive() {
    monitor();
    // Otherwise the Sentinel would make it a replica eight seconds after it continues.
    master.command("ACL", "SETUSER", "default", "-replicaof", "-slaveof");
    try (RedisCounterStore before = open(longDeadlines(""))) {
      await("connected", () -> answers(before));
      await("known", () -> sentinel.command("SENTINEL", "REPLICAS", "main").contains("slave"));
      master.hang();
      await("replaced", () -> named().contains("" + replica.port()));
      master.goOn();
      try (RedisCounterStore after = open(longDeadlines(""))) {
        await("connected", () -> answers(after));
        acquire(after, "a", 3);
        await("of one mind", () -> counts(before, "a", 3));
      }
      assertThat(master.command("ROLE")).startsWith("master");
      assertThat(listener.losses).as("of the replaced master").isNotEmpty();
    }
  }

  private static boolean counts(RedisCounterStore store, String user, long units) {
    try {
      return left(store, user) == 5 - units;
    } catch (CompletionException _) {
      return false; // it reconnects
    }
  }

  /** Returns the master's address as named by the Sentinel. */
  private String named() {
    return sentinel.command("SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main");
  }

  private void monitor() {
    sentinel.command("SENTINEL", "MONITOR", "main", "127.0.0.1", "" + master.port(), "1");
    sentinel.command("SENTINEL", "SET", "main", "down-after-milliseconds", "500");
    sentinel.command("SENTINEL", "SET", "main", "failover-timeout", "5000");
  }

  private void charges(Wanted wanted) {
    try (RedisCounterStore store = open(wanted)) {
      await("connected", () -> answers(store));
      acquire(store, "a", 3);
      assertThat(left(store, "a")).isEqualTo(2);
    }
  }

  private void refuses(Wanted wanted, String why) {
    try (RedisCounterStore store = open(wanted)) {
      await("failed with the reason", () -> failure(ask(store, "a", 1)).toString().contains(why));
    }
  }

  private RedisCounterStore open(Wanted wanted) {
    return RedisCounterStore.connect(wanted.settings(), TimeSource.system(), listener, null);
  }

  private Wanted longDeadlines(String login) {
    return Stores.longDeadlines(url(login));
  }

  private String url(String login) {
    return "redis-sentinel://" + login + "127.0.0.1:" + sentinel.port() + "#main";
  }
}
