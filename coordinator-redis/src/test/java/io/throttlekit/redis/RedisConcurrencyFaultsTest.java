package io.throttlekit.redis;

import static io.throttlekit.redis.Heartbeats.answers;
import static io.throttlekit.redis.Heartbeats.beat;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.await;
import static io.throttlekit.redis.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Departure;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.share.ShareGrant.Status;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Heartbeats to a Redis that hangs, dies, is slow, or loses its scripts. */
@RealRedis
class RedisConcurrencyFaultsTest {
  private static final long PROBE_MILLIS = 50;

  private final RedisProcess redis = RedisProcess.start();
  private final TcpProxy proxy = TcpProxy.to(redis.port());
  private final RecordingListener listener = new RecordingListener();
  private final List<RedisConcurrencyCoordinator> opened = new ArrayList<>();

  @AfterEach
  void stop() {
    opened.forEach(RedisConcurrencyCoordinator::close);
    proxy.close();
    redis.close();
  }

  @Test
  void reloadsAScriptThatRedisHasLost() {
    RedisConcurrencyCoordinator coordinator = open(Stores.longDeadlines(redis.url()));
    beat(coordinator, "limit", "a", 1);
    redis.command("SCRIPT", "FLUSH");
    assertThat(beat(coordinator, "limit", "a", 2).status()).isEqualTo(Status.MEMBER);
    redis.command("SCRIPT", "FLUSH");
    answer(leave(coordinator, "a"));
    assertThat(beat(coordinator, "limit", "a", 3).status()).isEqualTo(Status.EVICTED);
    assertThat(listener.failures).isEmpty();
  }

  @Test
  void whileRedisHangsCallsFailAtOnceUntilItRecovers() {
    RedisConcurrencyCoordinator coordinator =
        open(Wanted.redis(redis.url()).deadlines(5, 400).breaker(2, 100, PROBE_MILLIS));
    await("warm", () -> answers(coordinator));
    redis.hang();
    await("open", () -> !answers(coordinator) && !listener.isUp());
    TimeSource time = TimeSource.system();
    long begun = time.monotonicNanos();
    int waited = 0;
    for (int i = 0; i < 100; i++) {
      CompletionStage<ShareGrant> asked = coordinator.heartbeat(Heartbeats.of("limit", "a", 1));
      waited += asked.toCompletableFuture().isCompletedExceptionally() ? 0 : 1;
    }
    long probes = TimeUnit.NANOSECONDS.toMillis(time.monotonicNanos() - begun) / PROBE_MILLIS + 2;
    assertThat(waited).isLessThanOrEqualTo((int) probes);
    redis.goOn();
    await("recovered", () -> answers(coordinator));
    await("up", listener::isUp);
  }

  @Test
  void aHeartbeatFailsWithItsConnectionAndNotAtADeadline() {
    RedisConcurrencyCoordinator coordinator =
        open(Wanted.redis(proxied()).deadlines(5, 300).breaker(1_000, 60_000, PROBE_MILLIS));
    await("warm", () -> answers(coordinator));
    proxy.hangReplies();
    CompletionStage<ShareGrant> asked = coordinator.heartbeat(Heartbeats.of("limit", "a", 1));
    assertThat(failure(asked))
        .isInstanceOfSatisfying(
            StoreException.class, failed -> assertThat(failed.isNotSent()).isFalse());
    assertThat(listener.failures).as("counted as late").contains(Failure.LEASE_DEADLINE);
    assertThat(failure(asked).getMessage()).doesNotContain("300 ms");
    proxy.goOn();
    await("recovered", () -> answers(coordinator));
  }

  @Test
  void aLateAnswerCounts() {
    RedisConcurrencyCoordinator coordinator =
        open(Wanted.redis(proxied()).deadlines(5, 20_000).breaker(1_000, 60_000, PROBE_MILLIS));
    proxy.delayReplies(Wanted.CONNECT_TIMEOUT_MILLIS + 300);
    assertThat(beat(coordinator, "limit", "a", 1).share()).isEqualTo(10);
    assertThat(listener.failures).isEmpty();
  }

  @Test
  void aHeartbeatWhoseReplyWasLostMayBeRepeated() {
    RedisConcurrencyCoordinator coordinator = open(Stores.longDeadlines(proxied()));
    RedisConcurrencyCoordinator direct = open(Stores.longDeadlines(redis.url()));
    ShareGrant first = beat(coordinator, "limit", "a", 1);
    proxy.hangReplies();
    CompletionStage<ShareGrant> lost = coordinator.heartbeat(Heartbeats.of("limit", "b", 1));
    await("taken effect", () -> beat(direct, "limit", "a", 1).nodes() == 2);
    proxy.cut();
    assertThat(failure(lost)).isInstanceOf(StoreException.class);
    proxy.goOn();
    await("recovered", () -> answers(coordinator));
    ShareGrant repeated = beat(coordinator, "limit", "b", 1);
    assertThat(repeated.status()).isEqualTo(Status.MEMBER);
    assertThat(repeated.nodes()).isEqualTo(2);
    assertThat(repeated.generation()).isEqualTo(first.generation());
  }

  @Test
  void recoversAfterRedisIsKilledAndRestartedEmpty() {
    RedisConcurrencyCoordinator coordinator =
        open(Wanted.redis(redis.url()).deadlines(5, 400).breaker(2, 100, 50));
    await("warm", () -> answers(coordinator));
    beat(coordinator, "limit", "a", 1);
    redis.kill();
    await("down", () -> !answers(coordinator) && !listener.isUp());
    redis.restart();
    await("recovered", () -> answers(coordinator));
    await("notified of the loss", () -> listener.losses.size() == 1);
    assertThat(beat(coordinator, "limit", "a", 2).status()).isEqualTo(Status.EVICTED);
  }

  @Test
  void departuresBeforeCloseArriveAndLaterCallsFail() {
    RedisConcurrencyCoordinator coordinator = open(Stores.longDeadlines(redis.url()));
    List<CompletableFuture<?>> left = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      beat(coordinator, "limit", "node" + i, 1);
      left.add(leave(coordinator, "node" + i).toCompletableFuture());
    }
    coordinator.close();
    answer(coordinator.ended().thenApply(_ -> true));
    assertThat(left).allMatch(each -> each.isDone() && !each.isCompletedExceptionally());
    assertThat(failure(coordinator.heartbeat(Heartbeats.of("limit", "a", 1))))
        .isInstanceOf(StoreException.class);
    assertThat(failure(leave(coordinator, "a"))).isInstanceOf(StoreException.class);
    RedisConcurrencyCoordinator next = open(Stores.longDeadlines(redis.url()));
    assertThat(beat(next, "limit", "a", 1).nodes()).isEqualTo(1);
  }

  private static CompletionStage<Boolean> leave(
      RedisConcurrencyCoordinator coordinator, String node) {
    return coordinator.leave(new Departure("limit", node, 1, 0)).thenApply(_ -> true);
  }

  private String proxied() {
    return "redis://127.0.0.1:" + proxy.port();
  }

  private RedisConcurrencyCoordinator open(Wanted wanted) {
    RedisConcurrencyCoordinator coordinator =
        RedisConcurrencyCoordinator.connect(
            wanted.settings(), Coordination.DEFAULT, TimeSource.system(), listener, null);
    opened.add(coordinator);
    Stores.awaitReady(coordinator.ready());
    return coordinator;
  }
}
