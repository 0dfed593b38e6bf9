package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static io.throttlekit.postgres.StoreCalls.answers;
import static io.throttlekit.postgres.StoreCalls.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.share.Coordination;
import io.throttlekit.share.ShareGrant;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.steering.SteeringExchange.Answer;
import io.throttlekit.steering.SteeringExchange.Record;
import io.throttlekit.steering.SteeringExchange.Visit;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Concurrency limits while a standby is promoted: shares of replicas ({@code gate: service}), and
 * the lease and the record of the replica that steers ({@code gate: envoy}).
 */
@RealPostgres
class PostgresGatesFailoverTest {
  private final RecordingListener listener = new RecordingListener();

  /** Replaces the clock of both servers. */
  private final ManualTime clock = new ManualTime(1_700_000_000_000L);

  private final PostgresProcess primary = PostgresProcess.start();
  private final List<AutoCloseable> opened = new ArrayList<>(List.of(primary));

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  @Test
  void aSynchronousStandbyKeepsTheSharesOfReplicas() throws SQLException {
    ReplicatedPostgres both = opened(ReplicatedPostgres.synchronous(primary));
    var coordinator = coordinator(both);
    assertThat(Heartbeats.beat(coordinator, "a", 1).share()).isEqualTo(10);
    both.failOver();
    await("recovered", () -> answers(coordinator.health()));
    ShareGrant next = Heartbeats.beat(coordinator, "b", 1);
    assertThat(next.share()).as("all are reserved for a").isZero();
    assertThat(next.nodes()).isEqualTo(2);
    assertThat(listener.losses).isEmpty();
  }

  @Test
  void anAsynchronousStandbyThatLaggedKnowsNoLaterShares() throws SQLException {
    ReplicatedPostgres both = opened(ReplicatedPostgres.asynchronous(primary));
    var coordinator = coordinator(both);
    assertThat(Heartbeats.beat(coordinator, "a", 1).share()).isEqualTo(10);
    answer(Heartbeats.leave(coordinator, "a"));
    both.cutOff();
    assertThat(Heartbeats.beat(coordinator, "b", 1).share()).isEqualTo(10);
    both.failOver();
    await("recovered", () -> answers(coordinator.health()));
    assertThat(Heartbeats.beat(coordinator, "c", 1).share()).as("b is not known").isEqualTo(10);
    assertThat(Heartbeats.beat(coordinator, "b", 2).status())
        .as("it admits nothing until it has joined again")
        .isEqualTo(ShareGrant.Status.EVICTED);
    assertThat(listener.losses).hasSize(1);
  }

  @Test
  void aSynchronousStandbyKeepsTheRecordOfTheSteeringReplica() throws SQLException {
    ReplicatedPostgres both = opened(ReplicatedPostgres.synchronous(primary));
    var exchange = exchange(both);
    long epoch = visit(exchange, "a", 0, 0, null).epoch();
    Record record = new Record(epoch, 1, "shares");
    assertThat(visit(exchange, "a", 0, 0, record).published()).isTrue();
    both.failOver();
    await("recovered", () -> answers(exchange.health()));
    Answer other = visit(exchange, "b", 0, 0, null);
    assertThat(other.steering()).isEqualTo("a");
    assertThat(other.record()).isEqualTo(record);
    assertThat(visit(exchange, "a", epoch, 1, null).epoch()).isEqualTo(epoch);
  }

  /** Without a new epoch the other replica would apply the older shares. */
  @Test
  void theSteeringReplicaPublishesTheRecordThatALaggingStandbyLacksAgain() throws SQLException {
    ReplicatedPostgres both = opened(ReplicatedPostgres.asynchronous(primary));
    var exchange = exchange(both);
    long epoch = visit(exchange, "a", 0, 0, null).epoch();
    assertThat(visit(exchange, "a", 0, 0, new Record(epoch, 1, "old")).published()).isTrue();
    both.cutOff();
    assertThat(visit(exchange, "a", epoch, 1, new Record(epoch, 2, "new")).published()).isTrue();
    both.failOver();
    await("recovered", () -> answers(exchange.health()));
    long next = visit(exchange, "a", epoch, 2, null).epoch();
    assertThat(next).as("of a new lease").isGreaterThan(epoch);
    Record again = new Record(next, 3, "new");
    assertThat(visit(exchange, "a", epoch, 2, again).published()).isTrue();
    assertThat(visit(exchange, "b", epoch, 1, null).record()).isEqualTo(again);
  }

  private PostgresConcurrencyCoordinator coordinator(ReplicatedPostgres both) {
    var coordinator =
        new PostgresConcurrencyCoordinator(
            Wanted.of(both.url()).quickToConnect().settings(),
            Coordination.DEFAULT,
            TestSurroundings.notifying(listener));
    opened.add(coordinator);
    return coordinator;
  }

  private PostgresSteeringExchange exchange(ReplicatedPostgres both) {
    var exchange =
        new PostgresSteeringExchange(
            Wanted.of(both.url()).quickToConnect().settings(),
            new Database.Surroundings(
                TimeSource.system(), TestSurroundings.TIMER, listener, clock));
    opened.add(exchange);
    return exchange;
  }

  private static Answer visit(
      SteeringExchange exchange,
      String replica,
      long knownEpoch,
      long knownVersion,
      @Nullable Record record) {
    Visit visit = new Visit(replica, 1, "", knownEpoch, knownVersion, record, false);
    return answer(exchange.visit(visit));
  }

  private ReplicatedPostgres opened(ReplicatedPostgres both) {
    opened.add(both);
    return both;
  }
}
