package io.throttlekit.redis;

import static io.throttlekit.redis.Heartbeats.beat;
import static io.throttlekit.redis.StoreCalls.answer;
import static io.throttlekit.redis.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.limit.RequestStatistics;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Coordination.Aggregate;
import io.throttlekit.share.Coordination.Allocation;
import io.throttlekit.share.Departure;
import io.throttlekit.share.FleetState;
import io.throttlekit.share.Heartbeat;
import io.throttlekit.share.Heartbeat.Publication;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.share.ShareGrant.Remnant;
import io.throttlekit.share.ShareGrant.Status;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.redis.RealRedis;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How concurrency limits are stored in Redis. */
@RealRedis
class RedisConcurrencyCoordinatorTest {
  private static final long START = 1_700_000_000_000L;
  private static final long HOUR = 3_600_000;

  /** Texts that are different, and close to each other in some encoding or format. */
  private static final List<String> STRANGE =
      List.of(
          "",
          " ",
          "a",
          "a ",
          "a:",
          "a!",
          "A",
          ":",
          ";",
          "|",
          "{a}",
          "{}a",
          "fleet",
          "\0",
          "a\0",
          "\n",
          "\u007f",
          "\u00fc",
          "u\u0308",
          "\u20ac",
          "\uffee",
          "\ufffd",
          "?",
          "\ud83d\ude00",
          "\ud83d",
          "\ude00");

  @RegisterExtension private static final OneRedis redis = new OneRedis();

  private final List<AutoCloseable> opened = new ArrayList<>();
  private final ManualTime clock = new ManualTime(START);

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened) {
      each.close();
    }
  }

  @Test
  void nodesAndLimitsWithSpecialCharactersNeverCollide() {
    RedisConcurrencyCoordinator coordinator = open(Coordination.DEFAULT);
    for (String text : STRANGE) {
      ShareGrant grant = beat(coordinator, "limit" + text, "a", 1);
      assertThat(grant.epoch()).as("the first node of limit '%s' steers", text).isEqualTo(1);
    }
    int nodes = 0;
    for (String id : STRANGE) {
      ShareGrant grant = beat(coordinator, "of all", id, 1);
      assertThat(grant.nodes()).as("with '%s'", id).isEqualTo(++nodes);
      assertThat(grant.sameId()).as("'%s' among the others", id).isFalse();
    }
  }

  @Test
  void theSteeringNodeIsNamedExactly() {
    RedisConcurrencyCoordinator coordinator = open(Coordination.DEFAULT);
    for (String id : STRANGE) {
      beat(coordinator, "of " + id, id, 1);
      assertThat(beat(coordinator, "of " + id, "other", 1).steering()).isEqualTo(id);
    }
  }

  @Test
  void sharesFollowTheOrderOfIdsAsStringsAndThenOfIncarnations() {
    Coordination equal = new Coordination(Aggregate.MIN, Allocation.EQUAL, false);
    RedisConcurrencyCoordinator coordinator = open(equal);
    FleetState expected = FleetState.EMPTY;
    List<Heartbeat> first = new ArrayList<>();
    for (String id : STRANGE) {
      for (long incarnation : new long[] {Long.MIN_VALUE, -1, 0, 1, Long.MAX_VALUE}) {
        first.add(joining(id, incarnation));
      }
    }
    for (Heartbeat beat : first) {
      FleetState.Outcome outcome = expected.heartbeat(equal, beat, START);
      assertThat(answer(coordinator.heartbeat(beat)))
          .as("'%s' %d", beat.node(), beat.incarnation())
          .isEqualTo(outcome.grant());
      expected = outcome.next();
    }
  }

  private static Heartbeat joining(String id, long incarnation) {
    return new Heartbeat("all", id, incarnation, 1, 40, true, 0, 0, 1, 0, HOUR, 0, null, null);
  }

  @Test
  void aPublishedLimitOutlivesItsNodesForAnHour() {
    RedisConcurrencyCoordinator coordinator = open(Coordination.DEFAULT);
    beat(coordinator, "limit", "a", 1);
    Heartbeat publishing = Heartbeats.of("limit", "a", 2, 1_000, new Publication(1, 77));
    assertThat(answer(coordinator.heartbeat(publishing)).limit()).isEqualTo(77);
    clock.advance(HOUR);
    ShareGrant grant = beat(coordinator, "limit", "b", 1);
    assertThat(grant.limit()).isEqualTo(77);
    assertThat(grant.nodes()).isEqualTo(1);
  }

  @Test
  void keysExpireAnHourAfterTheLastHeartbeat() {
    RedisConcurrencyCoordinator coordinator =
        RedisConcurrencyCoordinator.connect(
            Stores.longDeadlines(redis.url()).settings(),
            Coordination.DEFAULT,
            TimeSource.system(),
            StoreListener.NONE,
            null);
    opened.add(coordinator);
    Stores.awaitReady(coordinator.ready());
    beat(coordinator, "limit", "a", 1);
    answer(coordinator.heartbeat(withDigest("b", 1)));
    answer(coordinator.leave(new Departure("limit", "a", 1, 0)).thenApply(_ -> true));
    List<Long> lasts =
        redis
            .command("KEYS", "*")
            .lines()
            .filter(key -> !key.contains("epoch"))
            .map(key -> Long.parseLong(redis.command("PTTL", key)))
            .toList();
    assertThat(lasts).as("the nodes, and the digests").hasSize(2);
    assertThat(lasts).allSatisfy(last -> assertThat(last).isBetween(HOUR - 60_000, HOUR + 10_000));
  }

  private static Heartbeat withDigest(String node, long sequence) {
    SampleDigest digest =
        new SampleDigest(1, 0, 0, 1, false, RequestStatistics.NONE, List.of(1_000L));
    return new Heartbeat("limit", node, 1, sequence, 10, true, 0, 0, 0, 0, HOUR, 0, null, digest);
  }

  @ParameterizedTest
  @CsvSource({
    "a:8000000000000001, 1 2 3",
    "a node without an incarnation, 10 1 0 0 0 10 1 10 1 9999999999999 0 0",
    "fleet, 10",
  })
  void aFieldThatCannotBeReadFailsTheCallAndIsNamed(String field, String value) {
    RedisConcurrencyCoordinator coordinator = open(Coordination.DEFAULT);
    beat(coordinator, "limit", "a", 1);
    redis.command("HSET", fleetKey(), field, value);
    assertThat(failure(coordinator.heartbeat(Heartbeats.of("limit", "a", 2, 0, null))))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("the key " + fleetKey() + " has no data of a concurrency limit")
        .hasMessageContaining(field + " " + value);
    redis.command("DEL", fleetKey());
    assertThat(beat(coordinator, "limit", "b", 1).status()).isEqualTo(Status.MEMBER);
  }

  @Test
  void aKeyOfAnotherTypeFailsTheCallAndIsNamed() {
    RedisConcurrencyCoordinator coordinator = open(Coordination.DEFAULT);
    beat(coordinator, "limit", "a", 1);
    String key = fleetKey();
    redis.command("SET", key, "x");
    assertThat(failure(coordinator.heartbeat(Heartbeats.of("limit", "a", 2, 0, null))))
        .hasMessageContaining("the key " + key + " has no data of a concurrency limit: WRONGTYPE");
  }

  @Test
  void numbersThatNoNodeCanReportAreClampedAndEndWithinAnHourAndADay() {
    RedisConcurrencyCoordinator coordinator = open(Coordination.DEFAULT);
    beat(coordinator, "limit", "a", 1);
    String remnant = "1 0 99999999999 0 0 0 1 0 1 99999999999999 1 99999999999";
    redis.command("HSET", fleetKey(), "b:8000000000000001", remnant);
    for (int i = 0; i < 8_000; i += 100) {
      List<String> lapsed = new ArrayList<>(List.of("HSET", fleetKey()));
      for (int j = i; j < i + 100; j++) {
        Collections.addAll(lapsed, "c%d:8000000000000001".formatted(j), "1 0 0 0 0 0 1 0 1 1 1 0");
      }
      redis.command(lapsed.toArray(String[]::new));
    }
    ShareGrant grant = beat(coordinator, "limit", "a", 2);
    assertThat(grant.remnants()).extracting(Remnant::permits).containsExactly(1 << 30);
    assertThat(grant.share()).isEqualTo(1);
    clock.advance(25 * HOUR);
    assertThat(beat(coordinator, "limit", "d", 1).remnants()).hasSize(1);
    clock.advance(1);
    ShareGrant later = beat(coordinator, "limit", "d", 2);
    assertThat(later.remnants()).isEmpty();
    assertThat(later.share()).isEqualTo(10);
  }

  private static String fleetKey() {
    return redis.command("KEYS", "*fleet*").strip();
  }

  @Test
  void aLossOfDataEvictsTheNodesAndIsReported() {
    RecordingListener listener = new RecordingListener();
    RedisConcurrencyCoordinator coordinator =
        new RedisConcurrencyCoordinator(
            Coordination.DEFAULT,
            Stores.following(clock, Stores.longDeadlines(redis.url()).settings(), listener));
    opened.add(coordinator);
    Stores.awaitReady(coordinator.ready());
    beat(coordinator, "limit", "a", 1);
    beat(coordinator, "limit", "a", 2);
    redis.flush();
    assertThat(beat(coordinator, "limit", "a", 3).status()).isEqualTo(Status.EVICTED);
    assertThat(listener.losses).hasSize(1);
    assertThat(redis.command("KEYS", "*fleet*")).as("nothing is stored").isEmpty();
  }

  @Test
  void afterALossOfDataSharesAreBelowTwiceTheLimitUntilEachNodeHasSentAHeartbeat() {
    RedisConcurrencyCoordinator coordinator = open(Coordination.DEFAULT);
    int[] shares = new int[4];
    long[] sequences = new long[shares.length];
    long[] generations = new long[shares.length];
    SplittableRandom random = new SplittableRandom(1);
    int most = 0;
    for (int round = 0; round < 12; round++) {
      if (round == 6) {
        redis.flush();
        Arrays.fill(sequences, 0); // evicted nodes join with a new incarnation
        Arrays.fill(generations, 0);
      }
      int first = random.nextInt(shares.length);
      for (int i = 0; i < shares.length; i++) {
        int node = (first + i) % shares.length;
        Heartbeat beat =
            new Heartbeat(
                "limit",
                "node" + node,
                round < 6 ? 1 : 2,
                ++sequences[node],
                10,
                true,
                0,
                shares[node],
                1,
                generations[node],
                HOUR,
                0,
                null,
                null);
        ShareGrant grant = answer(coordinator.heartbeat(beat));
        shares[node] = grant.share();
        generations[node] = grant.generation();
        int sum = Arrays.stream(shares).sum();
        assertThat(sum).as("round %d", round).isLessThanOrEqualTo(round == 6 ? 20 : 10);
        most = Math.max(most, sum);
      }
    }
    assertThat(most).as("the loss was reached").isGreaterThan(10);
  }

  @Test
  void aHeartbeatFollowsTheTermsOfItsOwnCoordinator() {
    List<Coordination> terms =
        List.of(
            Coordination.DEFAULT,
            new Coordination(Aggregate.MIN, Allocation.EQUAL, true),
            new Coordination(Aggregate.MEDIAN, Allocation.DEMAND, true));
    List<RedisConcurrencyCoordinator> coordinators = terms.stream().map(this::open).toList();
    SplittableRandom random = new SplittableRandom(1);
    FleetState expected = FleetState.EMPTY;
    long[] sequences = new long[6];
    long most = 0;
    for (int i = 0; i < 600; i++) {
      int node = random.nextInt(sequences.length);
      int of = node % terms.size();
      int limit = 1 + random.nextInt(30);
      Heartbeat beat =
          new Heartbeat(
              "limit",
              "node" + node,
              1,
              ++sequences[node],
              limit,
              true,
              0,
              random.nextInt(8),
              1,
              0,
              HOUR,
              0,
              null,
              null);
      FleetState.Outcome outcome = expected.heartbeat(terms.get(of), beat, START);
      expected = outcome.next();
      assertThat(answer(coordinators.get(of).heartbeat(beat))).isEqualTo(outcome.grant());
      most = Math.max(most, expected.limit());
      assertThat(expected.reserved()).as("step %d", i).isLessThanOrEqualTo(most);
    }
  }

  private RedisConcurrencyCoordinator open(Coordination terms) {
    RedisConcurrencyCoordinator coordinator =
        Stores.concurrency(Stores.longDeadlines(redis.url()), terms, clock);
    opened.add(coordinator);
    return coordinator;
  }
}
