package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * No unit of a region is spent twice, with any data that its Redis restores. Three of eight units
 * are leased; then the rest is requested from a Redis without that lease.
 */
@RealRedis
class RedisEscrowHistoryTest {
  private static final long END = 1_600_000_010_000L;

  private final RedisProcess redis = RedisProcess.start("--repl-diskless-sync-delay", "0");
  private final List<AutoCloseable> opened = new ArrayList<>(List.of(redis));

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  @Test
  void unitsOfARestoredSnapshotAreNotSpentAgain() {
    refill(redis, "1", 8);
    redis.command("SAVE");
    assertThat(leasedOf(redis)).isEqualTo(3);
    redis.kill();
    redis.restart();
    assertThat(held(redis)).as("units in the snapshot").startsWith("8 ");
    assertHoldsOnlyNewUnits(redis);
  }

  @Test
  void unitsOfALaggingReplicaAreNotSpentAgain() {
    RedisProcess replica = replicaOfEight();
    replica.command("REPLICAOF", "NO", "ONE"); // later changes are not replicated
    assertThat(leasedOf(redis)).isEqualTo(3);
    assertThat(held(replica)).as("units that the replica holds").startsWith("8 ");
    assertHoldsOnlyNewUnits(replica);
  }

  @Test
  void unitsOfAFormerMasterAreNotSpentAgain() {
    RedisProcess replica = replicaOfEight();
    replica.command("REPLICAOF", "NO", "ONE");
    assertThat(leasedOf(redis)).isEqualTo(3);
    redis.command("REPLICAOF", "127.0.0.1", String.valueOf(replica.port()));
    await("older data of it", () -> held(redis).startsWith("8 "));
    redis.command("REPLICAOF", "NO", "ONE");
    assertHoldsOnlyNewUnits(redis);
  }

  private void assertHoldsOnlyNewUnits(RedisProcess server) {
    RedisRegionalEscrow escrow = escrowOf(server);
    await("recovered", () -> RedisEscrowTest.answers(escrow));
    assertThat(answer(escrow.release(RedisEscrowTest.key("a"), END))).isZero();
    assertThat(leasedOf(server)).isZero();
    refill(server, "2", 2);
    assertThat(leasedOf(server)).isEqualTo(2);
  }

  private void refill(RedisProcess server, String id, long units) {
    RedisRegionalEscrow escrow = escrowOf(server);
    long now = answer(escrow.health());
    assertThat(answer(escrow.refill(RedisEscrowTest.refill("a", id, now, units)))).isTrue();
  }

  private long leasedOf(RedisProcess server) {
    return answer(escrowOf(server).lease(RedisEscrowTest.key("a"), 3)).units();
  }

  /** Starts a replica that has received eight units. */
  private RedisProcess replicaOfEight() {
    RedisProcess replica = RedisProcess.start();
    opened.add(replica);
    replica.command("REPLICAOF", "127.0.0.1", String.valueOf(redis.port()));
    await("linked", () -> replica.command("INFO", "replication").contains("link_status:up"));
    refill(redis, "1", 8); // before its first replica a master has another history
    await("replicated", () -> held(replica).startsWith("8 "));
    return replica;
  }

  private RedisRegionalEscrow escrowOf(RedisProcess server) {
    RedisRegionalEscrow escrow =
        Stores.escrow(Stores.longDeadlines(server.url()), new RecordingListener());
    opened.add(escrow);
    return escrow;
  }

  /** Returns a server's units of the counter, as stored. */
  private static String held(RedisProcess server) {
    StringBuilder all = new StringBuilder();
    for (String key : server.command("KEYS", "*held*").lines().toList()) {
      if (key.contains("held")) {
        all.append(server.command("HVALS", key));
      }
    }
    return all.toString();
  }
}
