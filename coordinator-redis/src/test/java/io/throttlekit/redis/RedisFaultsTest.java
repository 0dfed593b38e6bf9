package io.throttlekit.redis;

import static io.throttlekit.DataLoss.REFILL;
import static io.throttlekit.redis.StoreCalls.acquire;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.answers;
import static io.throttlekit.redis.StoreCalls.ask;
import static io.throttlekit.redis.StoreCalls.await;
import static io.throttlekit.redis.StoreCalls.failure;
import static io.throttlekit.redis.StoreCalls.grant;
import static io.throttlekit.redis.StoreCalls.lease;
import static io.throttlekit.redis.StoreCalls.left;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.Outcome;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A Redis that hangs, dies, is slow, or loses its scripts. */
@RealRedis
class RedisFaultsTest {
  private final RedisProcess redis = RedisProcess.start();
  private final TcpProxy proxy = TcpProxy.to(redis.port());
  private final RecordingListener listener = new RecordingListener();
  private final List<RedisCounterStore> opened = new ArrayList<>();

  @AfterEach
  void stop() {
    opened.forEach(RedisCounterStore::close);
    proxy.close();
    redis.close();
  }

  @Test
  void reloadsAScriptThatRedisHasLost() {
    RedisCounterStore store = longDeadlines();
    acquire(store, "a", 1);
    redis.command("SCRIPT", "FLUSH");
    assertThat(acquire(store, "a", 1).decisions().getFirst().remaining()).isEqualTo(3);
    assertThat(listener.failures).isEmpty();
    assertThat(redis.command("SCRIPT", "EXISTS", Script.load().sha)).contains("1");
  }

  @Test
  void aHangingRedisFailsCallsInTimeThenAtOnceUntilItRecovers() {
    RedisCounterStore store = shortDeadlines();
    await("warm", () -> answers(store));
    redis.hang();
    await("open", () -> failure(ask(store, "a", 1)) instanceof StoreException && !listener.isUp());
    long begun = System.nanoTime();
    long waited =
        IntStream.range(0, 1000)
            .filter(_ -> !ask(store, "a", 1).toCompletableFuture().isCompletedExceptionally())
            .count();
    long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
    assertThat(waited)
        .as("probes in %d ms", millis)
        .isLessThanOrEqualTo(millis / Wanted.PROBE_MILLIS + 2);
    assertThat(listener.failures.stream().filter(Failure.OPEN::equals).count())
        .isGreaterThanOrEqualTo(1000 - waited);
    redis.goOn();
    await("recovered", () -> answers(store));
    await("up", listener::isUp);
    assertThat(listener.states.getFirst()).isEqualTo("down");
    assertThat(listener.states.getLast()).isEqualTo("up");
  }

  @Test
  void recoversAfterRedisIsKilledAndRestartedEmpty() {
    RedisCounterStore store = shortDeadlines();
    await("warm", () -> answers(store));
    await("charged", () -> charged(store, 5));
    redis.kill();
    await("down", () -> !answers(store) && !listener.isUp());
    redis.restart();
    await("recovered", () -> answers(store));
    assertThat(left(longDeadlines(), "a")).isEqualTo(5);
    await("notified of the loss", () -> listener.losses.size() == 1);
    assertThat(listener.failures).contains(Failure.CONNECTION);
  }

  @Test
  void canBeCreatedBeforeRedisIsUp() {
    redis.kill();
    RedisCounterStore store = shortDeadlines();
    assertThat(failure(ask(store, "a", 1))).isInstanceOf(StoreException.class);
    redis.restart();
    await("connected", () -> answers(store));
  }

  @Test
  void aReplyLostAfterTheScriptRanIsCountedOnce() {
    RedisCounterStore store = longDeadlines();
    acquire(store, "a", 1);
    proxy.hangReplies();
    CompletionStage<Outcome> lost = ask(store, "a", 2);
    RedisCounterStore direct = open(Stores.longDeadlines(redis.url()));
    await("counted", () -> left(direct, "a") == 2);
    proxy.cut();
    assertThat(failure(lost)).isInstanceOf(StoreException.class);
    proxy.goOn();
    await("recovered", () -> answers(store));
    assertThat(left(store, "a")).isEqualTo(2);
  }

  @Test
  void aLateAnswerIsAFailureThatIsCountedButALateGrantIsDelivered() {
    RedisCounterStore store =
        open(Stores.longDeadlines(proxied()).deadlines(20, 60_000).breaker(1000, 60_000, 10));
    await("warm", () -> answers(store));
    RedisCounterStore direct = open(Stores.longDeadlines(redis.url()));
    proxy.hangReplies();
    CompletionStage<LeaseGrant> late = store.lease(lease("l", 3));
    assertThat(failure(ask(store, "a", 2))).hasMessageContaining("in time");
    await("counted", () -> left(direct, "a") == 3);
    proxy.goOn();
    assertThat(answer(late).units()).isEqualTo(3);
    assertThat(listener.failures).contains(Failure.DEADLINE);
  }

  @Test
  void aGrantMayTakeLongerThanTheConnectTimeout() {
    RedisCounterStore store = longDeadlines();
    proxy.delayReplies(Wanted.CONNECT_TIMEOUT_MILLIS + 300);
    assertThat(grant(store, "l", 3).units()).isEqualTo(3);
  }

  @Test
  void replacesAConnectionThatIsSilentForLong() {
    RedisCounterStore store =
        open(Stores.longDeadlines(proxied()).deadlines(50, 300).breaker(3, 100, 20));
    await("warm", () -> answers(store));
    proxy.hangReplies(); // permanently, for this connection
    int before = proxy.accepted();
    await("renewed", () -> !answers(store) && proxy.accepted() > before);
    proxy.goOn();
    await("recovered", () -> answers(store));
  }

  @Test
  void requestsThatArriveDuringACallShareTheNext() {
    RedisCounterStore store = open(Stores.longDeadlines(proxied()).batches(32, 1));
    acquire(store, "warm", 1);
    int before = listener.roundTrips.get();
    proxy.hang();
    List<CompletableFuture<Outcome>> asked = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      asked.add(ask(store, "user" + i % 40, 1).toCompletableFuture());
    }
    proxy.goOn();
    asked.forEach(StoreCalls::answer);
    assertThat(listener.roundTrips.get() - before).isBetween(4, 5);
    assertThat(left(store, "user0")).isEqualTo(2);
  }

  @Test
  void aRequestWithSeveralDescriptorsIsOneRoundTrip() {
    RedisCounterStore store = longDeadlines();
    acquire(store, "warm", 1);
    int before = listener.roundTrips.get();
    answer(
        store.acquire(
            List.of(
                StoreCalls.claim(StoreCalls.FIVE, "a", 1, REFILL),
                StoreCalls.claim(StoreCalls.FIVE, "b", 1, REFILL),
                StoreCalls.claim(StoreCalls.FIVE, "c", 1, REFILL))));
    assertThat(listener.roundTrips.get() - before).isEqualTo(1);
  }

  @Test
  void callsFailOnceTheStoreIsClosed() {
    RedisCounterStore store = longDeadlines();
    store.close();
    assertThat(failure(ask(store, "a", 1))).isInstanceOf(StoreException.class);
    assertThat(failure(store.lease(lease("a", 1)))).isInstanceOf(StoreException.class);
  }

  @Test
  void grantsWithTheClockOfRedis() {
    RedisCounterStore store = longDeadlines();
    LeaseGrant grant = grant(store, "a", 2);
    long now = TimeSource.system().wallMillis();
    assertThat(grant.storeNowMillis()).isBetween(now - 60_000, now + 1);
    assertThat(grant.windowEndMillis() % StoreCalls.FIVE.windowMillis()).isZero();
  }

  /**
   * Returns whether {@code units} of user a are charged now; a machine may be too busy for a
   * deadline.
   */
  private static boolean charged(RedisCounterStore store, long units) {
    try {
      acquire(store, "a", units);
      return true;
    } catch (RuntimeException _) {
      return false;
    }
  }

  private String proxied() {
    return "redis://127.0.0.1:" + proxy.port();
  }

  /** Opens a store with production settings, except for a deadline for busy machines. */
  private RedisCounterStore shortDeadlines() {
    return open(Wanted.redis(redis.url()).deadlines(100, 2_000));
  }

  private RedisCounterStore longDeadlines() {
    return open(Stores.longDeadlines(proxied()));
  }

  private RedisCounterStore open(Wanted wanted) {
    RedisCounterStore store =
        RedisCounterStore.connect(wanted.settings(), TimeSource.system(), listener, null);
    opened.add(store);
    return redisAnswers() ? Stores.connected(store) : store;
  }

  private boolean redisAnswers() {
    try {
      redis.command("PING");
      return true;
    } catch (UncheckedIOException _) {
      return false;
    }
  }
}
