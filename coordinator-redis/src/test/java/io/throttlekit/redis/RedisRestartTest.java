package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.await;
import static io.throttlekit.redis.StoreCalls.claim;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Persistence.Cause;
import io.throttlekit.store.Persistence.Gap;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * A Redis that restarts with older data than it has acknowledged, or is promoted from a replica.
 */
@RealRedis
class RedisRestartTest {
  private static final FixedWindow HUNDRED = new FixedWindow(100, StoreCalls.FIVE.windowMillis());
  private static final String[] ALWAYS = {"--appendonly", "yes", "--appendfsync", "always"};

  private final RecordingListener listener = new RecordingListener();
  private final List<AutoCloseable> opened = new ArrayList<>();

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  @Test
  void underDenyAtMostTheLimitIsAdmittedAfterAnOlderSnapshot() {
    RedisProcess redis = start();
    RedisCounterStore store = store(redis.url());
    int admitted = admitted(store, 14, DataLoss.DENY);
    redis.command("SAVE");
    admitted += admitted(store, 86, DataLoss.DENY);
    restart(redis);
    await("recovered", () -> StoreCalls.answers(store));
    admitted += admitted(store, 200, DataLoss.DENY);
    assertThat(admitted).as("of 100").isEqualTo(100);
    assertThat(listener.losses).hasSize(1);
  }

  /** The first save point is made quick; the file has what the default ones would leave. */
  @Test
  void underDenyAtMostTheLimitIsAdmittedWithTheDefaultSavePoints() {
    RedisProcess redis = start("--save", "1", "1");
    RedisCounterStore store = store(redis.url());
    int admitted = admitted(store, 14, DataLoss.DENY);
    await(
        "saved by itself",
        () -> redis.command("INFO", "persistence").contains("rdb_changes_since_last_save:0"));
    redis.command("CONFIG", "SET", "save", "3600 1 300 100 60 10000");
    admitted += admitted(store, 86, DataLoss.DENY);
    restart(redis);
    await("recovered", () -> StoreCalls.answers(store));
    assertThat(redis.command("EXISTS", "tk1:epoch")).as("it read its file").isEqualTo("1");
    admitted += admitted(store, 200, DataLoss.DENY);
    assertThat(admitted).as("of 100").isEqualTo(100);
    assertThat(listener.losses).hasSize(1);
    assertThat(listener.persistence.getLast().gaps()).isNotEmpty();
  }

  @Test
  void underDenyAPromotedCoordinatorGrantsNothingOfItsWindows() {
    RedisProcess first = start(ALWAYS);
    RedisProcess second = start(ALWAYS);
    Budget budget = Leased.five("a");
    assertThat(denied(coordinator(first), budget, 2)).isEqualTo(2);
    replicate(second, first);
    second.command("REPLICAOF", "NO", "ONE");
    assertThat(denied(coordinator(first), budget, 3)).as("by the old master").isEqualTo(3);
    assertThat(denied(coordinator(second), budget, 3)).as("which lacks them").isZero();
    assertThat(listener.losses).hasSize(1);
  }

  @Test
  void aProcessThatStartsAfterTheCrashDetectsIt() {
    RedisProcess redis = start();
    RedisCounterStore before = store(redis.url());
    admitted(before, 14, DataLoss.DENY);
    redis.command("SAVE");
    admitted(before, 86, DataLoss.DENY);
    before.close();
    restart(redis);
    assertThat(admitted(store(redis.url()), 200, DataLoss.DENY)).isZero();
    assertThat(listener.losses).hasSize(1);
  }

  @Test
  void underRefillTheCountsOfTheSnapshotContinue() {
    RedisProcess redis = start();
    RedisCounterStore store = store(redis.url());
    admitted(store, 60, DataLoss.REFILL);
    redis.command("SAVE");
    admitted(store, 40, DataLoss.REFILL);
    restart(redis);
    await("recovered", () -> StoreCalls.answers(store));
    assertThat(admitted(store, 200, DataLoss.REFILL)).isEqualTo(40);
  }

  @Test
  void aLossIsDeclaredOnceForAllProcesses() {
    RedisProcess redis = start();
    List<RedisCounterStore> stores =
        IntStream.range(0, 5).mapToObj(_ -> store(redis.url())).toList();
    stores.forEach(store -> admitted(store, 1, DataLoss.REFILL));
    redis.command("SAVE");
    restart(redis);
    await("recovered", () -> stores.stream().allMatch(StoreCalls::answers));
    String epoch = redis.command("GET", "tk1:epoch");
    assertThat(epoch).doesNotEndWith(" 0");
    assertThat(listener.losses).hasSize(5).containsOnly(lossOf(epoch));
    admitted(store(redis.url()), 1, DataLoss.REFILL);
    assertThat(redis.command("GET", "tk1:epoch")).isEqualTo(epoch);
  }

  @Test
  void aSnapshotOlderThanTheFirstConnectionIsDetectedByTheRunId() {
    RedisProcess redis = start();
    RedisCounterStore store = store(redis.url());
    admitted(store, 14, DataLoss.DENY);
    String history = redis.command("GET", "tk1:epoch:history");
    redis.command("DEL", "tk1:epoch:history"); // as an earlier release leaves it
    redis.command("SAVE");
    admitted(store, 86, DataLoss.DENY);
    assertThat(history).isNotEmpty();
    restart(redis);
    RedisCounterStore fresh = store(redis.url()); // a new process without knowledge
    await("both", () -> StoreCalls.answers(store) && StoreCalls.answers(fresh));
    assertThat(admitted(store, 9, DataLoss.DENY)).isZero();
    assertThat(admitted(fresh, 9, DataLoss.DENY)).isZero();
  }

  @Test
  void anAlwaysSyncedAppendOnlyFileLosesNothing() {
    RedisProcess redis = start(ALWAYS);
    RedisCounterStore store = store(redis.url());
    assertThat(admitted(store, 60, DataLoss.DENY)).isEqualTo(60);
    restart(redis);
    await("recovered", () -> StoreCalls.answers(store));
    assertThat(admitted(store, 200, DataLoss.DENY)).isEqualTo(40);
    restart(redis);
    assertThat(admitted(store(redis.url()), 9, DataLoss.DENY)).isZero();
    assertThat(listener.losses).isEmpty();
    assertThat(redis.command("GET", "tk1:epoch")).endsWith(" 0");
  }

  @Test
  void anAppendOnlyFileThatIsSyncedEverySecondMayLoseSomething() {
    RedisProcess redis = start("--appendonly", "yes");
    RedisCounterStore store = store(redis.url());
    admitted(store, 1, DataLoss.DENY);
    await(
        "written", () -> redis.command("INFO", "persistence").contains("aof_pending_bio_fsync:0"));
    restart(redis);
    await("recovered", () -> StoreCalls.answers(store));
    assertThat(listener.losses).hasSize(1);
    assertThat(admitted(store, 1, DataLoss.DENY)).isZero();
  }

  @Test
  void anUnreadableConfigurationCountsAsALoss() {
    RedisProcess redis = start(ALWAYS);
    redis.command("ACL", "SETUSER", "limits", "on", ">word", "~*", "+@all", "-config");
    String url = redis.url().replace("redis://", "redis://limits:word@");
    RedisCounterStore store = store(url);
    admitted(store, 1, DataLoss.DENY);
    redis.kill();
    redis.restart();
    redis.command("ACL", "SETUSER", "limits", "on", ">word", "~*", "+@all", "-config");
    await("recovered", () -> StoreCalls.answers(store));
    assertThat(listener.losses).hasSize(1);
    assertThat(listener.persistence.getLast().gaps())
        .extracting(Gap::cause, Gap::found)
        .containsExactly(
            tuple(Cause.RESTART, "CONFIG GET is not allowed"),
            tuple(Cause.EVICTION, "maxmemory-policy cannot be read"));
  }

  @Test
  void aPromotedReplicaIsALossDespiteASyncedDisk() {
    RedisProcess first = start(ALWAYS);
    RedisProcess second = start(ALWAYS);
    RedisCounterStore store = store(first.url());
    replicate(second, first);
    admitted(store, 60, DataLoss.DENY);
    second.command("REPLICAOF", "NO", "ONE");
    assertThat(admitted(store(second.url()), 9, DataLoss.DENY)).isZero();
    replicate(first, second);
    assertThat(admitted(store, 1, DataLoss.REFILL)).as("by a replica").isZero();
    await("rejected by the breaker", () -> !StoreCalls.answers(store));
    first.command("REPLICAOF", "NO", "ONE");
    await("recovered", () -> StoreCalls.answers(store));
    assertThat(listener.losses).as("each promotion").hasSize(2);
  }

  @Test
  void aWindowThatBeginsWithinASecondOfAPromotionIsDenied() {
    FixedWindow tenSeconds = new FixedWindow(5, 10_000);
    long windowEnd = 1_700_000_010_000L;
    ManualTime clock = new ManualTime(windowEnd - 500);
    RedisProcess first = start();
    RedisProcess second = start();
    RedisCounterStore before = store(first.url(), clock);
    assertThat(admits(before, tenSeconds)).isTrue();
    replicate(second, first);
    second.command("REPLICAOF", "NO", "ONE");
    RedisCounterStore after = store(second.url(), clock);
    clock.setWall(windowEnd + 400);
    assertThat(admits(before, tenSeconds)).as("by the old master").isTrue();
    assertThat(admits(after, tenSeconds)).isFalse();
    clock.setWall(windowEnd + 10_000);
    assertThat(admits(after, tenSeconds)).isTrue();
  }

  @Test
  void aMasterThatGetsItsFirstReplicaHasLostNothing() {
    RedisProcess first = start();
    admitted(store(first.url()), 60, DataLoss.DENY);
    replicate(start(), first);
    RedisCounterStore later = store(first.url());
    assertThat(admitted(later, 200, DataLoss.DENY)).isEqualTo(40);
    assertThat(listener.losses).isEmpty();
  }

  private RedisProcess start(String... options) {
    RedisProcess redis = RedisProcess.start(options);
    opened.add(redis);
    return redis;
  }

  private RedisGlobalCoordinator coordinator(RedisProcess redis) {
    RedisGlobalCoordinator coordinator =
        Stores.coordinator(Stores.longDeadlines(redis.url()), listener);
    opened.add(coordinator);
    return coordinator;
  }

  private static long denied(RedisGlobalCoordinator coordinator, Budget budget, long units) {
    return answer(coordinator.lease(Leased.denied(budget, BudgetLease.CURRENT, units))).units();
  }

  private RedisCounterStore store(String url) {
    RedisCounterStore store =
        RedisCounterStore.connect(
            Stores.longDeadlines(url).settings(), TimeSource.system(), listener, null);
    opened.add(store);
    return Stores.connected(store);
  }

  private RedisCounterStore store(String url, ManualTime clock) {
    RedisCounterStore store = Stores.open(url, clock);
    opened.add(store);
    return store;
  }

  private static boolean admits(RedisCounterStore store, FixedWindow window) {
    return answer(store.acquire(List.of(claim(window, "a", 1, DataLoss.DENY)))).admitted();
  }

  private static void replicate(RedisProcess replica, RedisProcess master) {
    replica.command("CONFIG", "SET", "repl-diskless-sync-delay", "0");
    master.command("CONFIG", "SET", "repl-diskless-sync-delay", "0");
    replica.command("REPLICAOF", "127.0.0.1", String.valueOf(master.port()));
    await("linked", () -> replica.command("INFO", "replication").contains("link_status:up"));
  }

  private static void restart(RedisProcess redis) {
    redis.kill();
    redis.restart();
  }

  private static long lossOf(String epoch) {
    return Long.parseLong(epoch.substring(epoch.indexOf(' ') + 1));
  }

  /** Returns how many of {@code requests} for one unit of 100 are admitted. */
  private static int admitted(RedisCounterStore store, int requests, DataLoss onDataLoss) {
    int admitted = 0;
    for (int i = 0; i < requests; i++) {
      try {
        admitted +=
            answer(store.acquire(List.of(claim(HUNDRED, "a", 1, onDataLoss)))).admitted() ? 1 : 0;
      } catch (CompletionException _) {
        // not admitted
      }
    }
    return admitted;
  }
}
