package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.await;
import static io.throttlekit.redis.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.share.ReleaseExchange;
import io.throttlekit.share.ReleaseExchange.Delivery;
import io.throttlekit.share.ReleaseExchange.Release;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Rights, expiry and faults of a Redis through which processes exchange releases. */
@RealRedis
class RedisReleaseExchangeTest {
  private static final String A = "aaaaaa-1";
  private static final String B = "bbbbbb-1";

  private final RedisProcess redis = RedisProcess.start();
  private final List<RedisReleaseExchange> opened = new ArrayList<>();

  @AfterEach
  void stop() {
    opened.forEach(RedisReleaseExchange::close);
    redis.close();
  }

  private RedisReleaseExchange open(Wanted wanted) {
    RedisReleaseExchange exchange =
        RedisReleaseExchange.connect(
            wanted.settings(), TimeSource.system(), StoreListener.NONE, null);
    Stores.awaitReady(exchange.ready());
    opened.add(exchange);
    return exchange;
  }

  private static Delivery poll(RedisReleaseExchange exchange, long receipt) {
    return answer(exchange.exchange(A, receipt, List.of()));
  }

  private static Delivery sendToA(RedisReleaseExchange exchange, String text) {
    return answer(exchange.exchange(B, Delivery.NO_RECEIPT, List.of(new Release(A, text))));
  }

  @Test
  void needsTheDocumentedRights() {
    redis.command(
        "ACL",
        "SETUSER",
        "releases",
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
        "+pexpire",
        "+lrange",
        "+ltrim",
        "+lindex",
        "+rpush",
        "+info");
    RedisReleaseExchange exchange =
        open(Stores.longDeadlines("redis://releases:secret@127.0.0.1:" + redis.port()));
    poll(exchange, 0);
    assertThat(sendToA(exchange, "x").unknown()).isZero();
    Delivery delivery = poll(exchange, 0);
    assertThat(delivery.releases()).containsExactly("x");
    sendToA(exchange, "y");
    assertThat(poll(exchange, delivery.receipt()).releases()).containsExactly("y");
  }

  @Test
  void everyKeyOfProcessesExpires() {
    RedisReleaseExchange exchange = open(Stores.longDeadlines(redis.url()));
    poll(exchange, 0);
    sendToA(exchange, "x");
    List<String> keys =
        redis
            .command("KEYS", "*")
            .lines()
            .filter(key -> key.contains("process|") || key.contains("releases|"))
            .toList();
    assertThat(keys).hasSize(3);
    for (String key : keys) {
      assertThat(Long.parseLong(redis.command("PTTL", key).strip()))
          .as(key)
          .isBetween(1L, ReleaseExchange.KEPT_MILLIS + 10_000);
    }
  }

  @Test
  void aLossOfDataLosesReleasesAndProcessesUntilTheirNextCalls() {
    RedisReleaseExchange exchange = open(Stores.longDeadlines(redis.url()));
    poll(exchange, 0);
    sendToA(exchange, "x");
    long receipt = poll(exchange, 0).receipt();
    redis.command("FLUSHALL");
    redis.command("SCRIPT", "FLUSH");
    assertThat(sendToA(exchange, "lost").unknown()).isEqualTo(1);
    poll(exchange, receipt);
    assertThat(sendToA(exchange, "y").unknown()).isZero();
    assertThat(poll(exchange, receipt).releases()).containsExactly("y");
  }

  @Test
  void callsToAHangingServerFailAtTheLeaseDeadline() {
    RedisReleaseExchange exchange =
        open(Wanted.redis(redis.url()).deadlines(100, 300).breaker(1_000, 60_000, 10));
    await("warm", () -> answers(exchange));
    redis.hang();
    try {
      assertThat(failure(exchange.exchange(A, 0, List.of()))).isInstanceOf(StoreException.class);
    } finally {
      redis.goOn();
    }
    await("recovered", () -> answers(exchange));
  }

  private static boolean answers(RedisReleaseExchange exchange) {
    return exchange
        .exchange(A, 0, List.of())
        .handle((_, failure) -> failure == null)
        .toCompletableFuture()
        .join();
  }
}
