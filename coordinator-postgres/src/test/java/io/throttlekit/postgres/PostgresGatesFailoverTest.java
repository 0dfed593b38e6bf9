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
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
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
  private static final String WRITTEN = "SELECT pg_current_wal_flush_lsn()";
  private static final String REPLAYED = "SELECT pg_last_wal_replay_lsn()";
  private static final String STANDBYS = "SELECT count(*) FROM pg_stat_replication";

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
    PostgresProcess standby = startStandby("synchronous_standby_names=*");
    var coordinator = coordinator(standby);
    assertThat(Heartbeats.beat(coordinator, "a", 1).share()).isEqualTo(10);
    failOver(standby);
    await("recovered", () -> answers(coordinator.health()));
    ShareGrant next = Heartbeats.beat(coordinator, "b", 1);
    assertThat(next.share()).as("all are reserved for a").isZero();
    assertThat(next.nodes()).isEqualTo(2);
    assertThat(listener.losses).isEmpty();
  }

  @Test
  void anAsynchronousStandbyThatLaggedKnowsNoLaterShares() throws SQLException {
    PostgresProcess standby = startStandby();
    var coordinator = coordinator(standby);
    assertThat(Heartbeats.beat(coordinator, "a", 1).share()).isEqualTo(10);
    answer(Heartbeats.leave(coordinator, "a"));
    cutOff(standby);
    assertThat(Heartbeats.beat(coordinator, "b", 1).share()).isEqualTo(10);
    failOver(standby);
    await("recovered", () -> answers(coordinator.health()));
    assertThat(Heartbeats.beat(coordinator, "c", 1).share()).as("b is not known").isEqualTo(10);
    assertThat(Heartbeats.beat(coordinator, "b", 2).status())
        .as("it admits nothing until it has joined again")
        .isEqualTo(ShareGrant.Status.EVICTED);
    assertThat(listener.losses).hasSize(1);
  }

  @Test
  void aSynchronousStandbyKeepsTheRecordOfTheSteeringReplica() throws SQLException {
    PostgresProcess standby = startStandby("synchronous_standby_names=*");
    var exchange = exchange(standby);
    long epoch = visit(exchange, "a", 0, 0, null).epoch();
    Record record = new Record(epoch, 1, "shares");
    assertThat(visit(exchange, "a", 0, 0, record).published()).isTrue();
    failOver(standby);
    await("recovered", () -> answers(exchange.health()));
    Answer other = visit(exchange, "b", 0, 0, null);
    assertThat(other.steering()).isEqualTo("a");
    assertThat(other.record()).isEqualTo(record);
    assertThat(visit(exchange, "a", epoch, 1, null).epoch()).isEqualTo(epoch);
  }

  /** Without a new epoch the other replica would apply the older shares. */
  @Test
  void theSteeringReplicaPublishesTheRecordThatALaggingStandbyLacksAgain() throws SQLException {
    PostgresProcess standby = startStandby();
    var exchange = exchange(standby);
    long epoch = visit(exchange, "a", 0, 0, null).epoch();
    assertThat(visit(exchange, "a", 0, 0, new Record(epoch, 1, "old")).published()).isTrue();
    cutOff(standby);
    assertThat(visit(exchange, "a", epoch, 1, new Record(epoch, 2, "new")).published()).isTrue();
    failOver(standby);
    await("recovered", () -> answers(exchange.health()));
    long next = visit(exchange, "a", epoch, 2, null).epoch();
    assertThat(next).as("of a new lease").isGreaterThan(epoch);
    Record again = new Record(next, 3, "new");
    assertThat(visit(exchange, "a", epoch, 2, again).published()).isTrue();
    assertThat(visit(exchange, "b", epoch, 1, null).record()).isEqualTo(again);
  }

  private PostgresConcurrencyCoordinator coordinator(PostgresProcess standby) {
    var coordinator =
        new PostgresConcurrencyCoordinator(
            Wanted.of(url(standby)).quickToConnect().settings(),
            Coordination.DEFAULT,
            TestSurroundings.notifying(listener));
    opened.add(coordinator);
    return coordinator;
  }

  private PostgresSteeringExchange exchange(PostgresProcess standby) {
    var exchange =
        new PostgresSteeringExchange(
            Wanted.of(url(standby)).quickToConnect().settings(),
            new Database.Surroundings(
                TimeSource.system(), TestSurroundings.TIMER, listener, clock));
    opened.add(exchange);
    return exchange;
  }

  private String url(PostgresProcess standby) {
    return "jdbc:postgresql://127.0.0.1:%d,127.0.0.1:%d/postgres?targetServerType=primary"
        .formatted(primary.port(), standby.port());
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

  private PostgresProcess startStandby(String... options) {
    PostgresProcess standby = primary.startStandby(options);
    opened.add(standby);
    await("attached", () -> query(primary, STANDBYS).equals("1"));
    return standby;
  }

  private void cutOff(PostgresProcess standby) {
    await("replicated", () -> query(standby, REPLAYED).equals(query(primary, WRITTEN)));
    query(standby, "ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=1'");
    query(standby, "SELECT pg_reload_conf()");
    await("cut off", () -> query(primary, STANDBYS).equals("0"));
  }

  private void failOver(PostgresProcess standby) throws SQLException {
    primary.kill();
    standby.promote();
  }

  private static String query(PostgresProcess server, String sql) {
    try (Connection connection = server.connect("postgres");
        Statement statement = connection.createStatement()) {
      if (!statement.execute(sql)) {
        return "";
      }
      try (ResultSet row = statement.getResultSet()) {
        return row.next() ? String.valueOf(row.getString(1)) : "";
      }
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }
}
