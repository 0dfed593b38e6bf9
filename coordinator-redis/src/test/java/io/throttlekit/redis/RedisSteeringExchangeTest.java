package io.throttlekit.redis;

import static io.throttlekit.redis.StoreCalls.answer;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.steering.SteeringExchange.Answer;
import io.throttlekit.steering.SteeringExchange.Record;
import io.throttlekit.steering.SteeringExchange.Report;
import io.throttlekit.steering.SteeringExchange.Visit;
import io.throttlekit.steering.SteeringLease;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.redis.RealRedis;
import io.throttlekit.testkit.redis.RedisProcess;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Rights, writes, expiry, loss of data and clock steps of a Redis in which replicas elect. */
@RealRedis
class RedisSteeringExchangeTest {
  private static final long DAY = TimeUnit.DAYS.toMillis(1);

  private final RedisProcess redis = RedisProcess.start();
  private final ManualTime clock = new ManualTime(1_700_000_000_000L);
  private final List<RedisSteeringExchange> opened = new ArrayList<>();

  @AfterEach
  void stop() {
    opened.forEach(RedisSteeringExchange::close);
    redis.close();
  }

  private RedisSteeringExchange open(String url) {
    RedisSteeringExchange exchange =
        RedisSteeringExchange.connect(
            Stores.longDeadlines(url).settings(), TimeSource.system(), StoreListener.NONE, null);
    Stores.awaitReady(exchange.ready());
    opened.add(exchange);
    return exchange;
  }

  private RedisSteeringExchange openWithClock() {
    RedisSteeringExchange exchange = Stores.steering(Stores.longDeadlines(redis.url()), clock);
    opened.add(exchange);
    return exchange;
  }

  private static Answer visit(RedisSteeringExchange exchange, String replica, String report) {
    return visit(exchange, replica, report, null, false);
  }

  private static Answer visit(
      RedisSteeringExchange exchange,
      String replica,
      String report,
      @Nullable Record record,
      boolean leaving) {
    return answer(exchange.visit(new Visit(replica, 1, report, 0, 0, record, leaving)));
  }

  @Test
  void needsTheDocumentedRights() {
    redis.command(
        "ACL",
        "SETUSER",
        "steering",
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
        "+pexpire",
        "+hget",
        "+hmget",
        "+hset",
        "+hdel",
        "+lrange",
        "+ltrim",
        "+rpush",
        "+info");
    RedisSteeringExchange exchange = open("redis://steering:secret@127.0.0.1:" + redis.port());
    long epoch = visit(exchange, "a", "").epoch();
    for (int i = 0; i < 65; i++) {
      visit(exchange, "b", "x");
    }
    Record record = new Record(epoch, 1, "y");
    Answer answer = visit(exchange, "a", "", record, false);
    assertThat(answer.published()).isTrue();
    assertThat(answer.reports()).hasSize(64);
    assertThat(answer.dropped()).isEqualTo(1);
    assertThat(visit(exchange, "b", "").record()).isEqualTo(record);
    assertThat(visit(exchange, "a", "", null, true).steering()).isEmpty();
  }

  /** Otherwise no replica could steer until someone deletes the key. */
  @ParameterizedTest
  @CsvSource({
    "lease, garbage",
    "lease, ''",
    "lease, 99999999999999999999999 99999999999999999999 5 x",
    "version, x y",
    "version, 99999999999999999999999 99999999999999999999999",
    "dropped, lots",
  })
  void whatTheExchangeDidNotWriteCountsAsLost(String field, String garbage) {
    RedisSteeringExchange exchange = openWithClock();
    Record first = new Record(visit(exchange, "a", "").epoch(), 1, "x");
    visit(exchange, "a", "", first, false);
    redis.command("HSET", key("steering|state"), field, '"' + garbage + '"');
    long epoch = visit(exchange, "a", "").epoch();
    assertThat(epoch).isGreaterThanOrEqualTo(first.epoch());
    Record next = new Record(epoch, 2, "y");
    assertThat(visit(exchange, "a", "", next, false).published()).isTrue();
    assertThat(visit(exchange, "b", "").record()).isEqualTo(next);
  }

  @Test
  void aReportThatTheExchangeDidNotWriteIsDropped() {
    RedisSteeringExchange exchange = openWithClock();
    visit(exchange, "b", "");
    visit(exchange, "a", "before");
    redis.command("RPUSH", key("steering|reports"), "garbage");
    visit(exchange, "a", "after");
    Answer answer = visit(exchange, "b", "");
    assertThat(answer.reports())
        .containsExactly(new Report("a", "before"), new Report("a", "after"));
    assertThat(answer.dropped()).isOne();
  }

  @Test
  void visitsThatBringRenewAndReceiveNothingWriteNothing() {
    RedisSteeringExchange exchange = openWithClock();
    long epoch = visit(exchange, "a", "").epoch();
    visit(exchange, "a", "", new Record(epoch, 1, "x"), false);
    visit(exchange, "b", "");
    long written = writes();
    clock.advance(499);
    visit(exchange, "a", "");
    visit(exchange, "b", "");
    assertThat(writes()).isEqualTo(written);
    clock.advance(1);
    visit(exchange, "a", "");
    assertThat(writes()).as("the lease").isGreaterThan(written);
  }

  private long writes() {
    return redis
        .command("INFO", "persistence")
        .lines()
        .filter(line -> line.startsWith("rdb_changes_since_last_save:"))
        .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1).strip()))
        .sum();
  }

  @Test
  void theRecordIsKeptForAWeekAndReportsForSeconds() {
    RedisSteeringExchange exchange = open(redis.url());
    long epoch = visit(exchange, "a", "").epoch();
    visit(exchange, "a", "", new Record(epoch, 1, "x"), false);
    visit(exchange, "b", "x");
    assertThat(ttl("steering|state")).isBetween(7 * DAY - 60_000, 7 * DAY + 10_000);
    assertThat(ttl("steering|reports")).isBetween(1L, 15_000L);
    redis.command("PERSIST", key("steering|state"));
    visit(exchange, "a", "", null, true);
    assertThat(ttl("steering|state")).as("renewed").isGreaterThan(7 * DAY - 60_000);
  }

  @Test
  void noMoreReportsAreStoredThanAreDelivered() {
    RedisSteeringExchange exchange = openWithClock();
    visit(exchange, "a", "");
    for (int i = 0; i < 70; i++) {
      visit(exchange, "b", "x");
    }
    assertThat(redis.command("LLEN", key("steering|reports")).strip()).isEqualTo("64");
    assertThat(visit(exchange, "a", "").dropped()).isEqualTo(6);
  }

  private long ttl(String kind) {
    return Long.parseLong(redis.command("PTTL", key(kind)).strip());
  }

  private String key(String kind) {
    return redis.command("KEYS", "*" + kind).strip();
  }

  @Test
  void theEpochRisesAlsoAfterALossOfData() {
    RedisSteeringExchange exchange = open(redis.url());
    long first = visit(exchange, "a", "").epoch();
    visit(exchange, "a", "", new Record(first, 1, "lost"), false);
    redis.command("FLUSHALL");
    redis.command("SCRIPT", "FLUSH");
    Answer answer = visit(exchange, "b", "");
    assertThat(answer.epoch()).isGreaterThan(first);
    assertThat(answer.record()).isNull();
    Answer former = visit(exchange, "a", "report", new Record(first, 2, "late"), false);
    assertThat(former.steering()).isEqualTo("b");
    assertThat(former.published()).isFalse();
    assertThat(visit(exchange, "b", "").reports()).containsExactly(new Report("a", "report"));
  }

  @Test
  void anotherReplicaSteersAfterTheClockHasSteppedBack() {
    RedisSteeringExchange exchange = openWithClock();
    long first = visit(exchange, "a", "").epoch();
    clock.setWall(clock.wallMillis() - SteeringLease.MAX_LEFT_MILLIS);
    Answer answer = visit(exchange, "b", "");
    assertThat(answer.steering()).isEqualTo("b");
    assertThat(answer.epoch()).isEqualTo(first + 1);
    clock.setWall(clock.wallMillis() - 600);
    visit(exchange, "b", "");
    clock.advance(1_751);
    assertThat(visit(exchange, "a", "").steering()).as("renewed by the new time").isEqualTo("a");
  }
}
