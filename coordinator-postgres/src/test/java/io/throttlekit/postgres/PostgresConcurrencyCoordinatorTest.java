package io.throttlekit.postgres;

import static io.throttlekit.postgres.Heartbeats.beat;
import static io.throttlekit.postgres.Heartbeats.leave;
import static io.throttlekit.postgres.StoreCalls.answer;
import static io.throttlekit.postgres.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.limit.RequestStatistics;
import io.throttlekit.limit.SampleDigest;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.Heartbeat;
import io.throttlekit.share.Heartbeat.Publication;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.share.ShareGrant.Status;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** How concurrency limits are stored in PostgreSQL, and calls whose answer is lost or late. */
@RealPostgres
class PostgresConcurrencyCoordinatorTest {
  private static final long START = 1_700_000_000_000L;
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  private final ManualTime clock = new ManualTime(START);
  private final ManualTime time = new ManualTime(0);
  private final RecordingListener listener = new RecordingListener();
  private final CuttingProxy proxy = CuttingProxy.to(database.port());
  private final List<AutoCloseable> opened = new ArrayList<>(List.of(proxy));

  @BeforeEach
  void empty() {
    database.empty();
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  @Test
  void writesOnlyRowsThatChange() {
    PostgresConcurrencyCoordinator coordinator = open(Wanted.of(database.url()));
    for (String node : List.of("a", "b", "c")) {
      beat(coordinator, node, 1);
    }
    String limit = version("fleets", "true");
    String others = version("fleet_nodes", "node <> 'b'");
    String own = version("fleet_nodes", "node = 'b'");
    beat(coordinator, "b", 2);
    assertThat(version("fleets", "true")).isEqualTo(limit);
    assertThat(version("fleet_nodes", "node <> 'b'")).isEqualTo(others);
    assertThat(version("fleet_nodes", "node = 'b'")).isNotEqualTo(own);
  }

  @Test
  void aRepeatedHeartbeatIsCommittedAgain() {
    PostgresConcurrencyCoordinator coordinator = open(Wanted.of(database.url()));
    for (String node : List.of("a", "b", "c")) {
      beat(coordinator, node, 1);
    }
    String first = version("fleet_nodes", "node = 'b'");
    String others = version("fleet_nodes", "node <> 'b'");
    beat(coordinator, "b", 1);
    assertThat(version("fleet_nodes", "node = 'b'"))
        .as("the first commit may have given up waiting for a standby")
        .isNotEqualTo(first);
    assertThat(version("fleet_nodes", "node <> 'b'")).isEqualTo(others);
  }

  @Test
  void aRejectedHeartbeatOrDepartureStoresNothing() {
    PostgresConcurrencyCoordinator coordinator = open(Wanted.of(database.url()));
    assertThat(beat(coordinator, "a", 2).status()).isEqualTo(Status.EVICTED);
    answer(leave(coordinator, "a"));
    assertThat(database.query("SELECT count(*) FROM throttlekit.fleets")).isEqualTo("0");
  }

  @Test
  void digestsAreDeletedWhenTheSteeringNodeHasGotThem() {
    PostgresConcurrencyCoordinator coordinator = open(Wanted.of(database.url()));
    beat(coordinator, "a", 1);
    beat(coordinator, "b", 1);
    beat(coordinator, "b", 2);
    assertThat(count("digests IS NOT NULL")).isEqualTo("1");
    assertThat(beat(coordinator, "a", 1).digests()).as("a repeated heartbeat").isEmpty();
    assertThat(count("digests IS NOT NULL")).isEqualTo("1");
    assertThat(beat(coordinator, "a", 2).digests()).as("of a, and two of b").hasSize(3);
    assertThat(count("digests IS NOT NULL")).isEqualTo("0");
    assertThat(beat(coordinator, "a", 3).digests()).hasSize(1);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{1,2,3}",
        "{1,2,3,4,0,1,1000}", // without statistics
        "{1,2,3,4,0,0,0,1000,NULL}",
        "{1,2,3,4,0,NULL,0,1000,1,1000}",
        "{1,2,3,4,0,0,0,1000,-9}",
        "{1,2,3,4,0,0,0,1000,2,1000}",
        "{1,2,3,4,0,0,0,1000,9223372036854775807,1000}",
        "{1,2,3,4,0,0,0,1000,2147483647,1000}",
        "{{1,2},{3,4}}"
      })
  void digestsThatCannotBeReadCountAsNone(String written) {
    PostgresConcurrencyCoordinator coordinator = open(Wanted.of(database.url()));
    beat(coordinator, "a", 1);
    beat(coordinator, "b", 1);
    database.run("UPDATE throttlekit.fleet_nodes SET digests = '" + written + "'");
    assertThat(beat(coordinator, "b", 2).status()).isEqualTo(Status.MEMBER);
    database.run("UPDATE throttlekit.fleet_nodes SET digests = '" + written + "'");
    assertThat(beat(coordinator, "a", 2).digests()).as("its own").hasSize(1);
    assertThat(listener.failures).isEmpty();
  }

  @Test
  void statisticsOutOfRangeThatOthersHaveWrittenAreClamped() {
    PostgresConcurrencyCoordinator coordinator = open(Wanted.of(database.url()));
    beat(coordinator, "a", 1);
    beat(coordinator, "b", 1);
    long least = Long.MIN_VALUE;
    long most = Long.MAX_VALUE;
    database.run(
        "UPDATE throttlekit.fleet_nodes SET digests = '{1,0,0,1,0,%d,%d,%d,1,1000,1,0,0,1,0,%d,%d,%d,1,1000}' WHERE node = 'b'"
            .formatted(least, least, least, most, most, most));
    long hour = 3_600_000_000_000L;
    assertThat(beat(coordinator, "a", 2).digests())
        .extracting(SampleDigest::statistics)
        .containsExactly(
            RequestStatistics.NONE,
            new RequestStatistics(-hour, 0, 1_000),
            new RequestStatistics(hour, hour, 1_000_000));
  }

  @Test
  void aPublishedLimitOutlivesItsNodes() {
    PostgresConcurrencyCoordinator coordinator = open(Wanted.of(database.url()));
    beat(coordinator, "a", 1);
    Heartbeat publishing =
        new Heartbeat(
            "limit", "a", 1, 2, 10, true, 0, 0, 0, 0, 1_000, 0, new Publication(1, 77), null);
    assertThat(answer(coordinator.heartbeat(publishing)).limit()).isEqualTo(77);
    clock.advance(3_600_000);
    ShareGrant grant = beat(coordinator, "b", 1);
    assertThat(grant.limit()).isEqualTo(77);
    assertThat(grant.nodes()).isEqualTo(1);
  }

  @Test
  void heartbeatsAtTheSameTimeNeverGrantMoreThanTheLimit() {
    List<PostgresConcurrencyCoordinator> coordinators =
        List.of(open(Wanted.of(database.url())), open(Wanted.of(database.url())));
    for (int round = 1; round <= 5; round++) {
      List<CompletableFuture<ShareGrant>> answers = new ArrayList<>();
      for (int node = 0; node < 20; node++) {
        Heartbeat beat = Heartbeats.of("node" + node, round);
        answers.add(coordinators.get(node % 2).heartbeat(beat).toCompletableFuture());
      }
      answers.forEach(each -> assertThat(answer(each).status()).isEqualTo(Status.MEMBER));
      assertThat(
              Integer.parseInt(
                  database.query(
                      "SELECT sum(greatest(may_apply, in_flight)) FROM throttlekit.fleet_nodes")))
          .isBetween(1, 10);
    }
    assertThat(listener.failures).isEmpty();
  }

  @Test
  void aHeartbeatWhoseReplyIsLostAtTheCommitMayBeRepeated() {
    PostgresConcurrencyCoordinator direct = open(Wanted.of(database.url()));
    PostgresConcurrencyCoordinator coordinator = open(Wanted.of(proxied()).connections(1));
    beat(direct, "a", 1);
    beat(coordinator, "b", 1);
    proxy.cutAtNextCommit();
    CompletionStage<ShareGrant> lost = coordinator.heartbeat(Heartbeats.of("b", 2));
    assertThat(failure(lost))
        .isInstanceOfSatisfying(
            StoreException.class, failed -> assertThat(failed.isNotSent()).isFalse());
    assertThat(proxy.hasCut()).isTrue();
    assertThat(database.query("SELECT sequence FROM throttlekit.fleet_nodes WHERE node = 'b'"))
        .isEqualTo("2");
    assertThat(beat(coordinator, "b", 2).status()).isEqualTo(Status.MEMBER);
    proxy.cutAtNextCommit();
    assertThat(failure(leave(coordinator, "b"))).isInstanceOf(StoreException.class);
    answer(leave(coordinator, "b"));
    assertThat(beat(direct, "a", 2).nodes()).isEqualTo(1);
  }

  @Test
  void aHeartbeatCutBeforeTheCommitIsRetried() {
    PostgresConcurrencyCoordinator coordinator = open(Wanted.of(proxied()).connections(1));
    beat(coordinator, "a", 1);
    proxy.cutAtNextAnswer();
    assertThat(beat(coordinator, "a", 2).status()).isEqualTo(Status.MEMBER);
    assertThat(proxy.hasCut()).isTrue();
  }

  @Test
  void aLateAnswerCounts() {
    PostgresConcurrencyCoordinator coordinator = open(Wanted.of(proxied()).connections(1));
    beat(coordinator, "a", 1);
    proxy.holdAnswers();
    CompletionStage<ShareGrant> late = coordinator.heartbeat(Heartbeats.of("a", 2));
    StoreCalls.await("under way", () -> proxy.holding() == 1);
    time.advance(Wanted.LONG_MILLIS + 10);
    StoreCalls.await("late", () -> !listener.failures.isEmpty());
    proxy.passAnswers();
    assertThat(answer(late).status()).isEqualTo(Status.MEMBER);
    assertThat(listener.failures).as("counted as late").containsExactly(Failure.LEASE_DEADLINE);
  }

  @Test
  void lostRowsEvictTheNodesAndAreReported() {
    PostgresConcurrencyCoordinator coordinator = open(Wanted.of(database.url()));
    beat(coordinator, "a", 1);
    database.empty();
    assertThat(beat(coordinator, "a", 2).status()).isEqualTo(Status.EVICTED);
    assertThat(listener.losses).hasSize(1);
  }

  @Test
  void departuresBeforeCloseArriveAndLaterCallsFail() {
    PostgresConcurrencyCoordinator coordinator = open(Wanted.of(database.url()));
    List<CompletableFuture<?>> left = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      beat(coordinator, "node" + i, 1);
      left.add(leave(coordinator, "node" + i).toCompletableFuture());
    }
    coordinator.close();
    answer(coordinator.ended().thenApply(_ -> true));
    assertThat(left).allMatch(each -> each.isDone() && !each.isCompletedExceptionally());
    assertThat(failure(coordinator.heartbeat(Heartbeats.of("a", 1))))
        .hasMessageContaining("closed");
    assertThat(count("has_left")).isEqualTo("50");
  }

  private static String count(String condition) {
    return database.query("SELECT count(*) FROM throttlekit.fleet_nodes WHERE " + condition);
  }

  /** Returns the places of rows, which change with each write. */
  private static String version(String table, String condition) {
    return database.query(
        "SELECT string_agg(ctid::text, ' ' ORDER BY ctid) FROM throttlekit.%s WHERE %s"
            .formatted(table, condition));
  }

  private String proxied() {
    return "jdbc:postgresql://127.0.0.1:%d/%s".formatted(proxy.port(), database.name());
  }

  private PostgresConcurrencyCoordinator open(Wanted wanted) {
    PostgresConcurrencyCoordinator coordinator =
        new PostgresConcurrencyCoordinator(
            wanted.settings(),
            Coordination.DEFAULT,
            new Database.Surroundings(time, TestSurroundings.TIMER, listener, clock));
    opened.add(coordinator);
    return coordinator;
  }
}
