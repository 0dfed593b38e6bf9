package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.answer;
import static io.throttlekit.postgres.StoreCalls.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.steering.SteeringExchange.Answer;
import io.throttlekit.steering.SteeringExchange.Record;
import io.throttlekit.steering.SteeringExchange.Report;
import io.throttlekit.steering.SteeringExchange.Visit;
import io.throttlekit.steering.SteeringLease;
import io.throttlekit.store.StoreListener;
import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What visits write and lock, their round trips, expired rows and clock steps. */
@RealPostgres
class PostgresSteeringExchangeTest {
  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  /** Identifies the versions of all rows, and their locks. */
  private static final String ROWS =
      "SELECT (SELECT concat(ctid, xmin, xmax) FROM throttlekit.steering) || (SELECT"
          + " string_agg(concat(ctid, xmin, xmax), ' ') FROM throttlekit.steering_reports)";

  /** Ends commits that wait for a standby, which would wait for ever. */
  private static final String CANCEL =
      "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

  /** The clock of deadlines. */
  private final ManualTime time = new ManualTime(0);

  private final ManualTime clock = new ManualTime(1_700_000_000_000L);

  @BeforeEach
  void empty() {
    database.empty();
  }

  private PostgresSteeringExchange open(Wanted wanted) {
    return new PostgresSteeringExchange(
        wanted.settings(),
        new Database.Surroundings(time, TestSurroundings.TIMER, StoreListener.NONE, clock));
  }

  private PostgresSteeringExchange open() {
    return open(Wanted.of(database.url()));
  }

  private static Answer visit(SteeringExchange exchange, String replica, String report) {
    return visit(exchange, replica, report, null);
  }

  private static Answer visit(
      SteeringExchange exchange, String replica, String report, @Nullable Record record) {
    return answer(exchange.visit(new Visit(replica, 1, report, 0, 0, record, false)));
  }

  @Test
  void visitsThatBringRenewAndReceiveNothingWriteAndLockNothing() {
    try (PostgresSteeringExchange exchange = open()) {
      long epoch = visit(exchange, "a", "").epoch();
      visit(exchange, "b", "x");
      visit(exchange, "a", "", new Record(epoch, 1, "x"));
      String rows = database.query(ROWS);
      assertThat(rows).isNotEmpty();
      clock.advance(499);
      visit(exchange, "a", "");
      assertThat(visit(exchange, "b", "").record()).isEqualTo(new Record(epoch, 1, "x"));
      assertThat(database.query(ROWS)).isEqualTo(rows);
      clock.advance(1);
      visit(exchange, "a", "");
      assertThat(database.query(ROWS)).as("the lease").isNotEqualTo(rows);
    }
  }

  @Test
  void reportsDoNotWaitForTheLockOfTheLease() throws SQLException {
    try (PostgresSteeringExchange exchange = open();
        Connection slow = database.connect();
        Statement sql = slow.createStatement()) {
      visit(exchange, "a", "");
      slow.setAutoCommit(false);
      sql.execute("SELECT FROM throttlekit.steering FOR UPDATE");
      assertThat(visit(exchange, "b", "x").steering()).isEqualTo("a");
      assertThat(visit(exchange, "b", "").steering()).isEqualTo("a");
      slow.rollback();
      assertThat(visit(exchange, "a", "").reports()).containsExactly(new Report("b", "x"));
    }
  }

  @Test
  void aReportThatIsCommittedAfterALaterOneIsDelivered() throws SQLException {
    try (PostgresSteeringExchange exchange = open();
        Connection slow = database.connect();
        Statement sql = slow.createStatement()) {
      visit(exchange, "a", "");
      slow.setAutoCommit(false);
      sql.execute(
          "INSERT INTO throttlekit.steering_reports (replica, report, kept_until_millis)"
              + " VALUES ('b', 'slow', 1800000000000)");
      visit(exchange, "c", "fast");
      assertThat(visit(exchange, "a", "").reports()).containsExactly(new Report("c", "fast"));
      slow.commit();
      assertThat(visit(exchange, "a", "").reports()).containsExactly(new Report("b", "slow"));
    }
  }

  @Test
  void visitsOfReplicasThatDoNotSteerAreOneTrip() {
    try (CuttingProxy proxy = CuttingProxy.to(database.port());
        PostgresSteeringExchange exchange =
            open(
                Wanted.of("jdbc:postgresql://127.0.0.1:" + proxy.port() + "/" + database.name())
                    .connections(1))) {
      long epoch = visit(exchange, "a", "").epoch();
      proxy.trips();
      visit(exchange, "b", "");
      assertThat(proxy.trips()).as("without a report").isEqualTo(1);
      visit(exchange, "b", "x");
      assertThat(proxy.trips()).as("with a report").isEqualTo(1);
      visit(exchange, "a", "", new Record(epoch, 1, "x"));
      assertThat(proxy.trips()).as("with a record").isEqualTo(2);
      visit(exchange, "a", "");
      assertThat(proxy.trips()).as("steering").isEqualTo(1);
    }
  }

  @Test
  void rowsOfReportsAreReplacedAndExpire() {
    try (PostgresSteeringExchange exchange = open(Wanted.of(database.url()).collectEvery(20))) {
      visit(exchange, "a", "");
      for (int i = 0; i < 200; i++) {
        visit(exchange, "b", "x");
      }
      String count = "SELECT count(*) FROM throttlekit.steering_reports";
      assertThat(database.query(count)).isEqualTo("64");
      clock.advance(SteeringExchange.KEPT_MILLIS + Garbage.SLACK_MILLIS + 1);
      await("no reports", () -> database.query(count).equals("0"));
    }
  }

  @Test
  void anotherReplicaSteersAfterTheClockHasSteppedBack() {
    try (PostgresSteeringExchange exchange = open()) {
      long first = visit(exchange, "a", "").epoch();
      clock.setWall(clock.wallMillis() - SteeringLease.MAX_LEFT_MILLIS);
      Answer answer = visit(exchange, "b", "");
      assertThat(answer.steering()).isEqualTo("b");
      assertThat(answer.epoch()).isEqualTo(first + 1);
      clock.setWall(clock.wallMillis() - 600);
      visit(exchange, "b", "");
      clock.advance(1_751);
      assertThat(visit(exchange, "a", "").steering()).as("renewed").isEqualTo("a");
    }
  }

  @Test
  void theEpochRisesAlsoAfterALossOfData() {
    try (PostgresSteeringExchange exchange = open()) {
      long first = visit(exchange, "a", "").epoch();
      database.empty();
      clock.advance(1);
      assertThat(visit(exchange, "b", "").epoch()).isGreaterThan(first);
      assertThat(visit(exchange, "a", "", new Record(first, 1, "late")).published()).isFalse();
    }
  }

  @Test
  void leasesAndRecordsWaitForTheStandbyAndReportsDoNot() throws SQLException {
    try (PostgresProcess server = PostgresProcess.start();
        PostgresSteeringExchange exchange =
            open(Wanted.of(server.url("postgres")).breaker(1_000, 3_600_000, 10));
        Connection admin = server.connect("postgres");
        Statement sql = admin.createStatement()) {
      await("warm", () -> StoreCalls.answers(exchange.health()));
      long epoch = visit(exchange, "a", "").epoch();
      sql.execute("ALTER SYSTEM SET synchronous_standby_names = '*'"); // there is none
      sql.execute("SELECT pg_reload_conf()");
      Visit publication = new Visit("a", 1, "", 0, 0, new Record(epoch, 1, "x"), false);
      await("waiting for a standby", () -> waitsForStandby(exchange, publication, sql));
      sql.execute(CANCEL);
      visit(exchange, "b", "report");
      clock.advance(SteeringExchange.RENEW_MILLIS);
      assertThat(visit(exchange, "a", "").reports()).containsExactly(new Report("b", "report"));
      assertThat(waitsForStandby(exchange, publication, sql)).as("repeated").isTrue();
      sql.execute(CANCEL);
      clock.advance(SteeringExchange.LEASE_MILLIS + 1);
      assertThat(waitsForStandby(exchange, new Visit("b", 1, "", 0, 0, null, false), sql)).isTrue();
      sql.execute(CANCEL);
    }
  }

  /** Returns whether a visit waits for a standby, and fails at its deadline; false if answered. */
  private boolean waitsForStandby(SteeringExchange exchange, Visit visit, Statement admin) {
    CompletableFuture<?> asked = exchange.visit(visit).toCompletableFuture();
    await("answered or waiting", () -> asked.isDone() || isWaiting(admin));
    if (!asked.isDone()) {
      time.advance(Wanted.LONG_MILLIS + 10);
    }
    return asked.handle((_, failure) -> failure != null).join();
  }

  private static boolean isWaiting(Statement admin) {
    try (ResultSet row =
        admin.executeQuery("SELECT FROM pg_stat_activity WHERE wait_event = 'SyncRep'")) {
      return row.next();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }
}
