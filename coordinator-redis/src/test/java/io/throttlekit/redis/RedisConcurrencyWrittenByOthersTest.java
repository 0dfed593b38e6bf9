package io.throttlekit.redis;

import static io.throttlekit.redis.Heartbeats.beat;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.limit.RequestStatistics;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Departure;
import io.throttlekit.share.Heartbeat;
import io.throttlekit.share.Heartbeat.Publication;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.share.ShareGrant.Status;
import io.throttlekit.testkit.redis.RealRedis;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Keys of a concurrency limit that another program has written to. */
@RealRedis
class RedisConcurrencyWrittenByOthersTest {
  private static final long START = 1_700_000_000_000L;
  private static final long HOUR = 3_600_000;
  private static final String OTHER = "b:8000000000000001";

  /** The fields of a member. */
  private static final String MEMBER = "10 1 0 0 0 5 1 5 1 1700003600000 0 0";

  @RegisterExtension private static final OneRedis redis = new OneRedis();

  private final ManualTime clock = new ManualTime(START);
  private @Nullable RedisConcurrencyCoordinator opened;

  @BeforeEach
  void open() {
    opened = Stores.concurrency(Stores.longDeadlines(redis.url()), Coordination.DEFAULT, clock);
  }

  @AfterEach
  void close() {
    coordinator().close();
  }

  @ParameterizedTest
  @CsvSource({
    "fleet, 99999999999999999999999 99999999999999999999999 99999999999999999999999"
        + " zz:0000000000000000",
    "fleet, 10 9007199254740992 1 b:8000000000000001",
    "b:8000000000000001, 10 1 0 0 0 5 1 5 99999999999999999999 1700003600000 0 0",
    "b:8000000000000001, 10 1 0 0 0 5 99999999999999999999 5 1 1700003600000 0 0",
    "b:8000000000000001, 10 1 0 0 0 5 1 5 1 9007199254740992 0 0",
    "b:1, 10 1 0 0 0 5 1 5 1 1700003600000 1 0",
  })
  void aNumberThatNoDoubleHoldsAndANameOfNoNodeFailTheCall(String field, String value) {
    beat(coordinator(), "limit", "a", 1);
    redis.command("HSET", key("fleet"), field, value);
    assertThat(failure(coordinator().heartbeat(Heartbeats.of("limit", "a", 2))))
        .hasMessageContaining("has no data of a concurrency limit: " + field + " " + value);
    redis.command("DEL", key("fleet"));
    assertThat(beat(coordinator(), "limit", "c", 1).limit()).isEqualTo(10);
  }

  @Test
  void aSteeringLeaseThatEndsLaterThanAnyHasEnded() {
    beat(coordinator(), "limit", "a", 1);
    redis.command("HSET", key("fleet"), OTHER, MEMBER);
    redis.command("HSET", key("fleet"), "fleet", "1073741824 7 99999999999999 " + OTHER);
    assertThat(beat(coordinator(), "limit", "a", 2).epoch()).isEqualTo(8);
    Heartbeat publishing = Heartbeats.of("limit", "a", 3, HOUR, new Publication(8, 10));
    assertThat(answer(coordinator().heartbeat(publishing)).limit()).isEqualTo(10);
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "9007199254740991"})
  void aNodeSteersWhateverTheNumberOfTheLastLease(String number) {
    beat(coordinator(), "limit", "a", 1);
    String fleet = "10 %s 1 a:8000000000000001".formatted(number);
    redis.command("HSET", key("fleet"), "fleet", fleet);
    long epoch = beat(coordinator(), "limit", "a", 2).epoch();
    assertThat(epoch).isPositive();
    Heartbeat publishing = Heartbeats.of("limit", "a", 3, HOUR, new Publication(epoch, 12));
    assertThat(answer(coordinator().heartbeat(publishing)).limit()).isEqualTo(12);
    clock.advance(HOUR / 2); // the next lease
    assertThat(beat(coordinator(), "limit", "b", 1).epoch()).isPositive();
    assertThat(beat(coordinator(), "limit", "b", 2).status()).isEqualTo(Status.MEMBER);
  }

  @Test
  void aMessageQuotesLittleOfAFieldAndOnlyPrintableAscii() {
    beat(coordinator(), "limit\n\u001B[31m", "a", 1);
    String value = "\u001B[31m\u00FC\n" + "x".repeat(100_000);
    redis.command("HSET", key("fleet"), "fleet", value);
    assertThat(failure(coordinator().heartbeat(Heartbeats.of("limit\n\u001B[31m", "a", 2))))
        .message()
        .contains("limit??[31m has no data", ": fleet ?[31m???xxx", "x...")
        .hasSizeLessThan(700)
        .matches("[ -~]*");
  }

  @Test
  void digestsOfAnotherTypeAreDeletedAndFailNoCall() {
    answer(coordinator().heartbeat(digested("a", 1)));
    answer(coordinator().heartbeat(digested("b", 1))); // waits for the steering node
    String digests = key("digests");
    for (String steering : List.of("b", "a")) {
      redis.command("SET", digests, "zzz");
      ShareGrant grant = answer(coordinator().heartbeat(digested(steering, 2)));
      assertThat(grant.status()).isEqualTo(Status.MEMBER);
    }
    redis.command("SET", digests, "zzz");
    ShareGrant grant = beat(coordinator(), "limit", "a", 3); // reads digests, and adds none
    assertThat(grant.epoch()).isEqualTo(1);
    assertThat(grant.digests()).isEmpty();
    assertThat(redis.command("EXISTS", digests).strip()).isEqualTo("0");
    redis.command("SET", digests, "zzz");
    answer(coordinator().leave(new Departure("limit", "b", 1, 0)).thenApply(_ -> true));
    redis.command("SET", digests, "zzz");
    clock.advance(2 * HOUR); // the lease of the other one ends
    assertThat(beat(coordinator(), "limit", "c", 1).nodes()).isEqualTo(1);
  }

  @Test
  void digestsThatCannotBeReadAreLeftOut() {
    answer(coordinator().heartbeat(digested("a", 1)));
    answer(coordinator().heartbeat(digested("b", 1)));
    String digests = key("digests");
    redis.command("HSET", digests, "zzz", "1 0 0 1 0 0 0 1000 1000;");
    redis.command("HSET", digests, "z:zzzzzzzzzzzzzzzz", "1 0 0 1 0 0 0 1000 1000;");
    redis.command(
        "HSET",
        digests,
        OTHER,
        "x;;1 2;1 0 0 1 0 0 0 1000 1000;9 9 9 9 9 9 9 9 9e9;1 0 0 1 0 1000;" + "7 ".repeat(9_999));
    redis.command(
        "HSET",
        digests,
        "c:8000000000000001",
        "1 0 0 99999999999 0 0 0 1000 1000;5 0 0 1 0 0 0 1000;1 0 0 1 0 0 1e3 1000 1000;"
            + "1 0 0 1 0 99999999999999999999 0 1000 1000;1 0 0 1 0 0 0 1000 1000 ;");
    assertThat(answer(coordinator().heartbeat(digested("a", 2))).digests())
        .as("of a and b")
        .containsExactly(SAMPLE, SAMPLE);
  }

  @Test
  void statisticsOutOfRangeAreClamped() {
    answer(coordinator().heartbeat(digested("a", 1)));
    answer(coordinator().heartbeat(digested("b", 1)));
    long least = Long.MIN_VALUE;
    long most = Long.MAX_VALUE;
    redis.command(
        "HSET",
        key("digests"),
        OTHER,
        "1 0 0 1 0 %d %d %d 1000;1 0 0 1 0 %d %d %d 1000;"
            .formatted(least, least, least, most, most, most));
    long hour = 3_600_000_000_000L;
    assertThat(answer(coordinator().heartbeat(digested("a", 2))).digests())
        .extracting(SampleDigest::statistics)
        .containsExactly(
            SAMPLE.statistics(),
            new RequestStatistics(-hour, 0, 1_000),
            new RequestStatistics(hour, hour, 1_000_000));
  }

  private static final SampleDigest SAMPLE =
      new SampleDigest(1, 0, 0, 1, false, RequestStatistics.NONE, List.of(1_000L));

  private static Heartbeat digested(String node, long sequence) {
    return new Heartbeat("limit", node, 1, sequence, 10, true, 0, 0, 0, 0, HOUR, 0, null, SAMPLE);
  }

  private static String key(String kind) {
    return redis.command("EVAL", "return redis.call('KEYS', '*" + kind + "*')[1]", "0").strip();
  }

  private RedisConcurrencyCoordinator coordinator() {
    if (opened == null) {
      throw new IllegalStateException("opened before each test");
    }
    return opened;
  }
}
