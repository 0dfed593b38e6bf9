package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.acquire;
import static io.throttlekit.postgres.StoreCalls.answer;
import static io.throttlekit.postgres.StoreCalls.answers;
import static io.throttlekit.postgres.StoreCalls.ask;
import static io.throttlekit.postgres.StoreCalls.await;
import static io.throttlekit.postgres.StoreCalls.failure;
import static io.throttlekit.postgres.StoreCalls.left;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.postgres.Calls.Deadline;
import io.throttlekit.store.CallId;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import io.throttlekit.testkit.postgres.PostgresProcess;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A PostgreSQL that hangs, dies, is not started yet, or commits without an answer. */
@RealPostgres
class PostgresFaultsTest {
  /** The outage, after which a pool that doubles its pauses would pause for about as long again. */
  private static final long ABSENCE_MILLIS = 3_000;

  private static final long PROBE_MILLIS = 50;

  private static PostgresProcess server;

  private final RecordingListener listener = new RecordingListener();
  private final List<Database> opened = new ArrayList<>();

  @BeforeAll
  static void start() {
    server = PostgresProcess.start();
  }

  @AfterAll
  static void stop() {
    server.close();
  }

  @AfterEach
  void close() {
    opened.forEach(Database::close);
    opened.forEach(each -> answer(each.ended().thenApply(_ -> true))); // locks no table any more
    run("DROP SCHEMA IF EXISTS throttlekit CASCADE");
  }

  @Test
  void aHangingServerFailsCallsInTimeThenAtOnceUntilItRecovers() {
    PostgresCounterStore store = open(shortDeadlines());
    await("warm", () -> answers(ask(store, "warm", 0)));
    server.hang();
    try {
      await(
          "down", () -> failure(ask(store, "a", 1)) instanceof StoreException && !listener.isUp());
      assertThat(listener.failures).contains(Failure.DEADLINE);
      long waited = 0;
      long begun = System.nanoTime();
      for (int i = 0; i < 1000; i++) {
        waited += ask(store, "a", 1).toCompletableFuture().isCompletedExceptionally() ? 0 : 1;
      }
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begun);
      assertThat(waited).as("probes in %d ms", millis).isLessThanOrEqualTo(probesIn(millis));
      assertThat(listener.failures.stream().filter(Failure.OPEN::equals).count())
          .isGreaterThanOrEqualTo(1000 - waited);
    } finally {
      server.goOn();
    }
    await("recovered", () -> answers(ask(store, "b", 0)));
    await("up", listener::isUp);
    assertThat(listener.states.getFirst()).isEqualTo("down");
    assertThat(listener.states.getLast()).isEqualTo("up");
  }

  @Test
  void grantsSurviveAKilledServerAndCallsRecoverByThemselves() {
    PostgresGlobalCoordinator coordinator = coordinator(url());
    Budget budget = StoreCalls.budget(StoreCalls.FIVE, "a");
    for (int i = 0; i < 3; i++) {
      assertThat(answer(coordinator.lease(StoreCalls.wish(budget, "eu", 1))).units()).isEqualTo(1);
    }
    server.kill();
    assertThat(failure(coordinator.lease(StoreCalls.wish(budget, "eu", 1))))
        .isInstanceOf(StoreException.class);
    server.restart();
    await("recovered", () -> answers(coordinator.health()));
    LeaseGrant rest = answer(coordinator.lease(StoreCalls.wish(budget, "eu", 5)));
    assertThat(rest.units()).isLessThanOrEqualTo(2);
    assertThat(rest.left()).isZero();
    assertThat(listener.losses).isEmpty();
    assertThat(listener.failures).contains(Failure.CONNECTION);
  }

  @Test
  void unitsOfAnEscrowRestoredFromOlderDataAreNotSpentAgain() {
    PostgresRegionalEscrow escrow =
        new PostgresRegionalEscrow(wanted(url()).settings(), TestSurroundings.notifying(listener));
    opened.add(escrow);
    long now = answer(escrow.health());
    long end = now + 3_600_000;
    CounterKey key = StoreCalls.key(StoreCalls.FIVE, "a");
    assertThat(answer(escrow.refill(new EscrowRefill(key, "1", end, now, end, 8)))).isTrue();
    CallId id = new CallId(16, 1);
    assertThat(answer(escrow.lease(key, 3, id)).left()).isEqualTo(5);
    run("UPDATE throttlekit.escrow SET units = 8"); // as in a backup from before the lease
    server.kill();
    server.restart();
    await("recovered", () -> answers(escrow.health()));
    assertThat(answer(escrow.lease(key, 3)).units()).isZero();
    assertThat(answer(escrow.release(key, end))).isZero();
    assertThat(answer(escrow.refill(new EscrowRefill(key, "2", end, now, end, 2)))).isTrue();
    assertThat(answer(escrow.lease(key, 3, id)).units()).as("not as before").isEqualTo(2);
  }

  @Test
  void aCrashEmptiesUnloggedCountersAndIsReportedAsALoss() {
    PostgresCounterStore store = open(wanted(url()).counters(Durability.UNLOGGED));
    acquire(store, "a", 5);
    server.kill();
    server.restart();
    await("recovered", () -> answers(ask(store, "b", 0)));
    assertThat(left(store, "a")).isEqualTo(5);
    assertThat(listener.losses).hasSize(1);
  }

  @Test
  void countersSurviveACrash() {
    PostgresCounterStore store = open(wanted(url()));
    acquire(store, "a", 4);
    server.kill();
    server.restart();
    await("recovered", () -> answers(ask(store, "b", 0)));
    assertThat(left(store, "a")).isEqualTo(1);
    assertThat(listener.losses).isEmpty();
  }

  @Test
  void canBeCreatedBeforeTheServerIsUp() {
    server.kill();
    PostgresCounterStore store = open(shortDeadlines());
    assertThat(failure(ask(store, "a", 1))).isInstanceOf(StoreException.class);
    server.restart();
    await("connected", () -> answers(ask(store, "a", 0)));
  }

  @Test
  void recoversAtOnceAfterAnOutageOfAnyLength() {
    PostgresCounterStore store = open(wanted(url()).breaker(5, 10_000, PROBE_MILLIS));
    await("warm", () -> answers(ask(store, "a", 0)));
    server.kill();
    long away = System.nanoTime();
    await(
        "down for long",
        () ->
            !answers(ask(store, "a", 0))
                && System.nanoTime() - away > TimeUnit.MILLISECONDS.toNanos(ABSENCE_MILLIS));
    server.restart();
    int before = listener.failures.size();
    await("recovered", () -> answers(ask(store, "a", 0)));
    assertThat(listener.failures.stream().skip(before).filter(why -> why != Failure.OPEN))
        .as("failures of probes since the restart")
        .isEmpty();
  }

  @Test
  void anUnansweredCommitFailsAndIsCountedOnce() {
    try (CuttingProxy proxy = CuttingProxy.to(server.port())) {
      PostgresGlobalCoordinator direct = coordinator(url());
      String proxied = "jdbc:postgresql://127.0.0.1:" + proxy.port() + "/postgres";
      PostgresGlobalCoordinator coordinator = coordinator(proxied);
      Budget budget = StoreCalls.budget(StoreCalls.FIVE, "a");
      answer(coordinator.lease(StoreCalls.wish(budget, "eu", 1)));
      proxy.cutAtNextCommit();
      assertThat(failure(coordinator.lease(StoreCalls.wish(budget, "eu", 1))))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("may have been counted");
      assertThat(proxy.hasCut()).isTrue();
      assertThat(answer(direct.lease(StoreCalls.wish(budget, "eu", 5))).units())
          .as("of 5, 1 was leased before, and 1 by the lease that failed")
          .isEqualTo(3);
      assertThat(listener.triedAgain).hasValue(0);
    }
  }

  @Test
  void concurrentCallsAreBoundedByConnectionsAndNeverBlockCallers() throws SQLException {
    await("without connections of the test before", () -> connections() == 0);
    PostgresCounterStore store = open(wanted(url()).connections(3));
    acquire(store, "a", 1);
    List<CompletionStage<?>> asked = new ArrayList<>();
    try (Connection holder = server.connect("postgres");
        Statement sql = holder.createStatement()) {
      holder.setAutoCommit(false);
      sql.execute("SELECT FROM throttlekit.counters FOR UPDATE");
      for (int i = 0; i < 200; i++) {
        asked.add(ask(store, "a", 0));
      }
      await("waiting", () -> waiting() == 3);
      assertThat(asked).noneMatch(stage -> stage.toCompletableFuture().isDone());
      assertThat(connections()).isEqualTo(3);
      long longer = TimeSource.system().wallMillis() + Wanted.QUICK_MILLIS + 200;
      await("held", () -> TimeSource.system().wallMillis() > longer);
      holder.rollback();
    }
    asked.forEach(StoreCalls::answer);
  }

  @Test
  void aCallQueuedPastItsDeadlineIsNotExecuted() throws SQLException {
    ManualTime time = new ManualTime(0);
    PostgresCounterStore store =
        new PostgresCounterStore(
            Wanted.of(url()).connections(1).deadlines(2_000, Wanted.LONG_MILLIS).settings(),
            new Database.Surroundings(time, TestSurroundings.TIMER, listener, null));
    opened.add(store);
    await("warm", () -> answers(ask(store, "a", 1)));
    long before = left(store, "a"); // failed calls before it was warm may be counted
    List<CompletionStage<?>> asked = new ArrayList<>();
    try (Connection holder = server.connect("postgres");
        Statement sql = holder.createStatement()) {
      holder.setAutoCommit(false);
      sql.execute("SELECT FROM throttlekit.counters FOR UPDATE");
      asked.add(ask(store, "a", 1));
      await("the first is under way", () -> waiting() == 1);
      asked.add(ask(store, "a", 1));
      asked.add(ask(store, "a", 1));
      time.advance(2_010);
      for (CompletionStage<?> each : asked) {
        assertThat(failure(each)).hasMessageContaining("in time");
      }
      holder.rollback();
    }
    await("answers", () -> answers(ask(store, "b", 0)));
    assertThat(query("SELECT count(*) FROM throttlekit.counters")).isEqualTo(1);
    assertThat(left(store, "a"))
        .as("the first was in flight, and is counted")
        .isEqualTo(before - 1);
  }

  @Test
  void aHangingCallHoldsLocksNoLongerThanTheLeaseDeadline() throws SQLException {
    ManualTime time = new ManualTime(0);
    PostgresCounterStore store =
        new PostgresCounterStore(
            wanted(url()).deadlines(300, 10_000).settings(),
            new Database.Surroundings(time, TestSurroundings.TIMER, listener, null));
    opened.add(store);
    await("warm", () -> answers(ask(store, "a", 1)));
    try (Connection holder = server.connect("postgres");
        Statement sql = holder.createStatement()) {
      holder.setAutoCommit(false);
      sql.execute("SELECT FROM throttlekit.counters FOR UPDATE");
      CompletionStage<?> asked = ask(store, "a", 1);
      await("waiting", () -> waiting() == 1);
      time.advance(310);
      assertThat(failure(asked)).hasMessageContaining("in time");
      await("cancelled", () -> waiting() == 0);
      holder.rollback();
    }
    await("answers", () -> answers(ask(store, "b", 0)));
  }

  @Test
  void aSessionHasTheConfiguredDurabilityAndTimeouts() {
    answer(coordinator(url()).health()); // creates the tables, which commits in any case
    run("ALTER SYSTEM SET synchronous_commit = off");
    run("SELECT pg_reload_conf()");
    try {
      Database durable = database();
      assertThat(setting(durable, "synchronous_commit")).isEqualTo("on");
      assertThat(setting(durable, "transaction_isolation")).isEqualTo("read committed");
      assertThat(setting(durable, "statement_timeout")).isEqualTo("1min");
      assertThat(setting(durable, "idle_in_transaction_session_timeout")).isEqualTo("1min");
      assertThat(setting(durable, "search_path")).isEqualTo("throttlekit");
      durable.close();
      answer(durable.ended());
    } finally {
      run("ALTER SYSTEM RESET synchronous_commit");
      run("SELECT pg_reload_conf()");
    }
  }

  @Test
  void onlyCallsBeforeCloseAreAnswered() {
    PostgresCounterStore store = open(wanted(url()).connections(2));
    acquire(store, "warm", 1);
    List<CompletableFuture<?>> asked = new ArrayList<>();
    for (int i = 0; i < 200; i++) {
      asked.add(ask(store, "user" + i, 1).toCompletableFuture());
    }
    store.close();
    assertThat(failure(ask(store, "late", 1))).hasMessageContaining("closed");
    answer(store.ended().thenApply(_ -> true));
    assertThat(asked).allMatch(each -> each.isDone() && !each.isCompletedExceptionally());
    await(
        "disconnected",
        () ->
            query("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'throttlekit'")
                == 0);
  }

  private static String setting(Database database, String name) {
    return answer(
        database.call(
            Deadline.LEASE,
            session -> {
              session.rollBack(); // a refusal rolls back, too; session settings must outlive it
              try (var sql = session.prepare("SHOW " + name);
                  ResultSet row = sql.executeQuery()) {
                row.next();
                return row.getString(1);
              }
            }));
  }

  private Database database() {
    return new Database(
        wanted(url()).settings(), true, null, List.of(), TestSurroundings.notifying(listener));
  }

  private static long connections() {
    return query("SELECT count(*) FROM pg_stat_activity WHERE application_name = 'throttlekit'");
  }

  private static long waiting() {
    return query(
        "SELECT count(*) FROM pg_stat_activity"
            + " WHERE wait_event_type = 'Lock' AND application_name = 'throttlekit'");
  }

  private static Wanted wanted(String url) {
    return Wanted.of(url).quickToConnect();
  }

  private static Wanted shortDeadlines() {
    return wanted(url()).deadlines(200, 1_000).breaker(5, 300, PROBE_MILLIS);
  }

  private static long probesIn(long millis) {
    return millis / PROBE_MILLIS + 2;
  }

  private static String url() {
    return server.url("postgres");
  }

  private PostgresCounterStore open(Wanted wanted) {
    PostgresCounterStore store =
        new PostgresCounterStore(wanted.settings(), TestSurroundings.notifying(listener));
    opened.add(store);
    return store;
  }

  private PostgresGlobalCoordinator coordinator(String url) {
    PostgresGlobalCoordinator coordinator =
        new PostgresGlobalCoordinator(
            wanted(url).connections(1).settings(), TestSurroundings.notifying(listener));
    opened.add(coordinator);
    return coordinator;
  }

  private static void run(String sql) {
    try (Connection connection = server.connect("postgres");
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  private static long query(String sql) {
    try (Connection connection = server.connect("postgres");
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      row.next();
      return row.getLong(1);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }
}
