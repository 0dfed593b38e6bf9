package io.throttlekit.redis;

import static io.throttlekit.redis.Leased.answers;
import static io.throttlekit.redis.Leased.five;
import static io.throttlekit.redis.Leased.lease;
import static io.throttlekit.redis.Leased.returnUnits;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.await;
import static io.throttlekit.redis.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.federation.Budget;
import io.throttlekit.redis.FederationKeys.Place;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import io.throttlekit.testkit.net.TcpProxy;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A coordinator whose Redis hangs, dies, is slow, or loses its scripts. */
@RealRedis
class RedisCoordinatorFaultsTest {
  private static final long PROBE_MILLIS = 50;

  private final RedisProcess redis = RedisProcess.start();
  private final TcpProxy proxy = TcpProxy.to(redis.port());
  private final RecordingListener listener = new RecordingListener();
  private final List<RedisGlobalCoordinator> opened = new ArrayList<>();

  @AfterEach
  void stop() {
    opened.forEach(RedisGlobalCoordinator::close);
    proxy.close();
    redis.close();
  }

  @Test
  void reloadsAScriptThatRedisHasLost() {
    RedisGlobalCoordinator coordinator = longDeadlines();
    LeaseGrant grant = lease(coordinator, five("a"), 2);
    redis.command("SCRIPT", "FLUSH");
    assertThat(lease(coordinator, five("a"), 1).left()).isEqualTo(2);
    redis.command("SCRIPT", "FLUSH");
    assertThat(answer(returnUnits(coordinator, five("a"), "eu", "1", grant))).isTrue();
    assertThat(lease(coordinator, five("a"), 9).units()).isEqualTo(4);
    assertThat(listener.failures).isEmpty();
  }

  @Test
  void aHangingRedisFailsCallsByTheDeadlineThenAtOnceUntilItRecovers() {
    RedisGlobalCoordinator coordinator =
        open(Wanted.redis(redis.url()).deadlines(5, 400).breaker(2, 100, PROBE_MILLIS));
    await("warm", () -> answers(coordinator));
    redis.hang();
    TimeSource time = TimeSource.system();
    long begun = time.monotonicNanos();
    assertThat(failure(leaseAsync(coordinator, "a")))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("within 400 ms");
    assertThat(TimeUnit.NANOSECONDS.toMillis(time.monotonicNanos() - begun))
        .isGreaterThanOrEqualTo(399L);
    await("open", () -> !answers(coordinator) && !listener.isUp());
    int before = listener.failures.size();
    long asked = time.monotonicNanos();
    for (int i = 0; i < 100; i++) {
      var _ = leaseAsync(coordinator, "a");
    }
    long probes = TimeUnit.NANOSECONDS.toMillis(time.monotonicNanos() - asked) / PROBE_MILLIS + 2;
    assertThat(listener.failures.stream().skip(before).filter(Failure.OPEN::equals).count())
        .isGreaterThanOrEqualTo(100 - probes);
    assertThat(listener.failures).contains(Failure.LEASE_DEADLINE);
    redis.goOn();
    await("recovered", () -> answers(coordinator));
    await("up", listener::isUp);
  }

  @Test
  void callsTimedOutByOneHangCountAsOneFailureOfTheBreaker() {
    RedisGlobalCoordinator coordinator =
        open(Wanted.redis(proxied()).deadlines(5, 300).breaker(2, 60_000, 50));
    await("warm", () -> answers(coordinator));
    proxy.hang();
    List<CompletionStage<LeaseGrant>> asked = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      asked.add(leaseAsync(coordinator, "user" + i));
    }
    asked.forEach(StoreCalls::failure);
    assertThat(listener.isUp()).isTrue();
    await("down after two in a row", () -> !answers(coordinator) && !listener.isUp());
  }

  @Test
  void replacesAConnectionThatIsSilentForLong() {
    RedisGlobalCoordinator coordinator =
        open(Wanted.redis(proxied()).deadlines(50, 300).breaker(3, 100, 20));
    await("warm", () -> answers(coordinator));
    proxy.hangReplies(); // permanently, for this connection
    int before = proxy.accepted();
    await("renewed", () -> !answers(coordinator) && proxy.accepted() > before);
    proxy.goOn();
    await("recovered", () -> answers(coordinator));
  }

  @Test
  void aReplyLostAfterTheScriptRanIsCountedOnce() {
    RedisGlobalCoordinator coordinator = longDeadlines();
    lease(coordinator, five("a"), 1);
    proxy.hangReplies();
    CompletionStage<LeaseGrant> lost = coordinator.lease(Leased.of(five("a"), "eu", 2));
    await("counted", () -> out() == 3);
    proxy.cut();
    assertThat(failure(lost)).isInstanceOf(StoreException.class);
    proxy.goOn();
    await("recovered", () -> answers(coordinator));
    assertThat(out()).isEqualTo(3);
  }

  @Test
  void aReturnWhoseReplyWasLostMayBeResent() {
    RedisGlobalCoordinator coordinator = longDeadlines();
    LeaseGrant grant = lease(coordinator, five("a"), 3);
    lease(coordinator, five("a"), 2);
    proxy.hangReplies();
    CompletionStage<Boolean> lost = returnUnits(coordinator, five("a"), "eu", "1", grant);
    await("returned", () -> out() == 2);
    proxy.cut();
    assertThat(failure(lost)).isInstanceOf(StoreException.class);
    proxy.goOn();
    await("recovered", () -> answers(coordinator));
    assertThat(answer(returnUnits(coordinator, five("a"), "eu", "1", grant))).isTrue();
    assertThat(out()).isEqualTo(2);
  }

  @Test
  void aGrantAfterTheDeadlineIsLostButCounted() {
    RedisGlobalCoordinator coordinator = open(Stores.longDeadlines(proxied()).deadlines(5, 200));
    await("warm", () -> answers(coordinator));
    proxy.hangReplies();
    CompletionStage<LeaseGrant> late = coordinator.lease(Leased.of(five("a"), "eu", 2));
    assertThat(failure(late)).hasMessageContaining("within 200 ms");
    await("counted", () -> out() == 2);
    proxy.goOn();
  }

  @Test
  void recoversAfterRedisIsKilledAndRestartedEmpty() {
    RedisGlobalCoordinator coordinator =
        open(Wanted.redis(redis.url()).deadlines(5, 400).breaker(2, 100, 50));
    await("warm", () -> answers(coordinator));
    redis.kill();
    await("down", () -> !answers(coordinator) && !listener.isUp());
    redis.restart();
    await("recovered", () -> answers(coordinator));
    await("notified of the loss", () -> listener.losses.size() == 1);
    assertThat(listener.failures).contains(Failure.CONNECTION);
  }

  @Test
  void canBeCreatedBeforeRedisIsUp() {
    redis.kill();
    RedisGlobalCoordinator coordinator = connect(Wanted.redis(redis.url()));
    assertThat(failure(leaseAsync(coordinator, "a")))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("no connection to Redis");
    redis.restart();
    await("connected", () -> answers(coordinator));
  }

  @Test
  void returnsBeforeCloseArriveAndLaterCallsFail() {
    RedisGlobalCoordinator coordinator = longDeadlines();
    List<CompletableFuture<Boolean>> returns = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      LeaseGrant grant = lease(coordinator, five("user" + i), 5);
      returns.add(
          returnUnits(coordinator, five("user" + i), "eu", "1", grant).toCompletableFuture());
    }
    coordinator.close();
    answer(coordinator.ended().thenApply(_ -> true));
    returns.forEach(each -> assertThat(answer(each)).isTrue());
    assertThat(failure(leaseAsync(coordinator, "a"))).isInstanceOf(StoreException.class);
    RedisGlobalCoordinator next = open(Stores.longDeadlines(redis.url()));
    for (int i = 0; i < 200; i++) {
      assertThat(lease(next, five("user" + i), 5).units()).as("user %d", i).isEqualTo(5);
    }
  }

  @Test
  void aHangingRedisDelaysCloseByAtMostTheLeaseDeadline() {
    RedisGlobalCoordinator coordinator = open(Wanted.redis(redis.url()).deadlines(5, 300));
    redis.hang();
    CompletableFuture<LeaseGrant> asked = leaseAsync(coordinator, "a").toCompletableFuture();
    coordinator.close();
    answer(coordinator.ended().thenApply(_ -> true));
    assertThat(asked).isCompletedExceptionally();
  }

  /** Returns the leased units of user a's five, as stored in Redis. */
  private long out() {
    Budget a = five("a");
    Place place = new FederationKeys("", false).of(a.party());
    long out = 0;
    for (String row : List.of("even", "odd")) {
      byte[] key = place.key(row + a.window().windowMillis(), a.key());
      String leased = redis.command("HGET", new String(key, StandardCharsets.UTF_8), "leased");
      out += leased.isEmpty() ? 0 : Long.parseLong(leased);
    }
    return out;
  }

  private static CompletionStage<LeaseGrant> leaseAsync(
      RedisGlobalCoordinator coordinator, String user) {
    return coordinator.lease(Leased.of(five(user), "eu", 1));
  }

  private String proxied() {
    return "redis://127.0.0.1:" + proxy.port();
  }

  private RedisGlobalCoordinator longDeadlines() {
    return open(Stores.longDeadlines(proxied()));
  }

  private RedisGlobalCoordinator open(Wanted wanted) {
    RedisGlobalCoordinator coordinator = connect(wanted);
    Stores.awaitReady(coordinator.ready());
    return coordinator;
  }

  private RedisGlobalCoordinator connect(Wanted wanted) {
    RedisGlobalCoordinator coordinator =
        RedisGlobalCoordinator.connect(wanted.settings(), TimeSource.system(), listener, null);
    opened.add(coordinator);
    return coordinator;
  }
}
