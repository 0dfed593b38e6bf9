package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.FIVE;
import static io.throttlekit.postgres.StoreCalls.answer;
import static io.throttlekit.postgres.StoreCalls.answers;
import static io.throttlekit.postgres.StoreCalls.ask;
import static io.throttlekit.postgres.StoreCalls.await;
import static io.throttlekit.postgres.StoreCalls.claim;
import static io.throttlekit.postgres.StoreCalls.failure;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.DataLoss;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.CallId;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
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
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntUnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A primary that is killed, and whose standby is promoted. */
@RealPostgres
class PostgresFailoverTest {
  private static final FixedWindow MANY = new FixedWindow(10_000, FIVE.windowMillis());
  private static final FixedWindow HUNDRED = new FixedWindow(100, FIVE.windowMillis());
  private static final int CALLERS = 4;
  private static final int BUDGET_UNITS = 3;

  private final RecordingListener listener = new RecordingListener();
  private final PostgresProcess primary = PostgresProcess.start();
  private final List<AutoCloseable> opened = new ArrayList<>(List.of(primary));

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  @Test
  void aSynchronousStandbyKeepsAllCountsAndServes() throws Exception {
    PostgresProcess standby = standby("synchronous_standby_names=*");
    PostgresCounterStore store = store(standby);
    assertSurvivesFailover(
        standby,
        units ->
            answer(store.acquire(List.of(claim(MANY, "a", units, DataLoss.DENY)))).admitted()
                ? units
                : 0);
    assertThat(listener.losses).isEmpty();
  }

  @Test
  void aCoordinatorOnASynchronousStandbyKeepsGrants() throws Exception {
    PostgresProcess standby = standby("synchronous_standby_names=*");
    PostgresGlobalCoordinator coordinator = coordinator(standby);
    Budget budget = StoreCalls.budget(MANY, "a");
    assertSurvivesFailover(
        standby,
        units ->
            (int)
                answer(
                        coordinator.lease(
                            new BudgetLease(
                                budget, "eu", BudgetLease.CURRENT, units, DataLoss.DENY)))
                    .units());
    assertThat(listener.losses).isEmpty();
  }

  /**
   * Kills the primary under load, promotes the standby, and then leases the rest.
   *
   * @param granted leases a number of units, of 10,000 altogether, and returns how many were
   *     granted
   */
  private void assertSurvivesFailover(PostgresProcess standby, IntUnaryOperator granted)
      throws SQLException {
    AtomicInteger admitted = new AtomicInteger();
    AtomicInteger unanswered = new AtomicInteger();
    AtomicBoolean stop = new AtomicBoolean();
    List<CompletableFuture<Void>> callers = new ArrayList<>();
    for (int i = 0; i < CALLERS; i++) {
      callers.add(
          CompletableFuture.runAsync(
              () -> {
                while (!stop.get()) {
                  count(granted, 1, admitted, unanswered);
                }
              },
              Thread::startVirtualThread));
    }
    await("under load", () -> admitted.get() > 200);
    primary.kill();
    int before = admitted.get();
    standby.promote();
    int failedBefore = listener.failures.size();
    await("recovered", () -> admitted.get() > before + CALLERS);
    long failed =
        listener.failures.stream().skip(failedBefore).filter(why -> why != Failure.OPEN).count();
    stop.set(true);
    callers.forEach(CompletableFuture::join);
    for (int cost = 1_000; cost > 0; cost /= 10) {
      while (count(granted, cost, admitted, unanswered)) {
        // continues until less is left
      }
    }
    assertThat(admitted.get()).isLessThanOrEqualTo(10_000);
    assertThat(admitted.get() + unanswered.get())
        .as("lost leases were not answered")
        .isGreaterThanOrEqualTo(10_000);
    // Those under way at the promotion; none goes to the killed server again and again.
    assertThat(failed).as("failures after the promotion").isLessThanOrEqualTo(2 * CALLERS);
  }

  @Test
  void withAnAsynchronousStandbyTheFailoverIsALoss() throws Exception {
    PostgresProcess standby = standby();
    PostgresCounterStore store = store(standby);
    PostgresGlobalCoordinator coordinator = coordinator(standby);
    assertThat(admitted(store, 40)).isEqualTo(40);
    assertThat(leased(coordinator, BUDGET_UNITS)).isEqualTo(BUDGET_UNITS);
    await("replicated", () -> replayed(standby).equals(query(primary, CURRENT)));
    run(standby, "ALTER SYSTEM SET primary_conninfo = 'host=127.0.0.1 port=1'");
    run(standby, "SELECT pg_reload_conf()");
    await("cut off", () -> query(primary, "SELECT count(*) FROM pg_stat_replication").equals("0"));
    assertThat(admitted(store, 60)).as("which the standby lacks").isEqualTo(60);
    primary.kill();
    standby.promote();
    await("recovered", () -> answers(ask(store, "other", 0)));
    assertThat(admitted(store, 100)).isZero();
    assertThat(admitted(store(standby), 100)).as("by a new process").isZero();
    await("coordinator", () -> answers(coordinator.health()));
    assertThat(leased(coordinator, 5)).isZero();
    assertThat(listener.losses).as("counters and budgets").hasSize(2);
    assertThat(answer(ask(store, "anybody", 1)).admitted()).as("where refilled").isTrue();
  }

  @Test
  void aRestartedPrimaryHasLostNothing() throws Exception {
    PostgresCounterStore store = store(primary);
    assertThat(admitted(store, 40)).isEqualTo(40);
    primary.kill();
    primary.restart();
    await("recovered", () -> answers(ask(store, "other", 0)));
    assertThat(admitted(store, 100)).isEqualTo(60);
    assertThat(listener.losses).isEmpty();
  }

  @Test
  void aCommitNotConfirmedByTheStandbyIsNotAnswered() throws Exception {
    PostgresProcess standby = standby("synchronous_standby_names=*");
    PostgresCounterStore store = store(standby);
    assertThat(admitted(store, 1)).isEqualTo(1);
    standby.hang();
    try {
      CompletableFuture<?> waiting =
          store.acquire(List.of(claim(HUNDRED, "a", 1, DataLoss.DENY))).toCompletableFuture();
      await("waiting", () -> query(primary, WAITING).equals("1"));
      run(
          primary,
          "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      assertThat(failure(waiting))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("without its standby");
    } finally {
      standby.goOn();
    }
  }

  @Test
  void anAnswerIsRepeatedOnlyOnceTheStandbyHasIt() throws Exception {
    PostgresProcess standby = standby("synchronous_standby_names=*");
    PostgresCounterStore store = store(standby);
    PostgresGlobalCoordinator coordinator = coordinator(standby);
    assertThat(admitted(store, 1)).isEqualTo(1);
    assertThat(leased(coordinator, 1)).isEqualTo(1);
    CallId id = new CallId(16, 1);
    LeaseRequest request =
        new LeaseRequest(StoreCalls.key(HUNDRED, "a"), HUNDRED, 2, DataLoss.DENY, id);
    BudgetLease lease =
        new BudgetLease(
            StoreCalls.budget(FIVE, "a"), "eu", BudgetLease.CURRENT, 2, DataLoss.DENY, id);
    standby.hang();
    List<CompletableFuture<LeaseGrant>> again = new ArrayList<>();
    try {
      List<CompletableFuture<LeaseGrant>> waiting = new ArrayList<>();
      waiting.add(store.lease(request).toCompletableFuture());
      waiting.add(coordinator.lease(lease).toCompletableFuture());
      await("waiting", () -> query(primary, WAITING).equals("2"));
      run(
          primary,
          "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      waiting.forEach(
          each -> assertThat(failure(each)).hasMessageContaining("without its standby"));
      again.add(store.lease(request).toCompletableFuture());
      again.add(coordinator.lease(lease).toCompletableFuture());
      await("waiting again", () -> query(primary, WAITING).equals("2"));
      assertThat(again).noneMatch(CompletableFuture::isDone);
    } finally {
      standby.goOn();
    }
    assertThat(again).allSatisfy(each -> assertThat(answer(each).units()).isEqualTo(2));
    assertThat(admitted(store, 100)).as("of 100").isEqualTo(97);
    assertThat(leased(coordinator, 5)).as("of 5").isEqualTo(2);
  }

  @Test
  void disconnectsFromAServerThatBecameReadOnly() throws Exception {
    PostgresProcess standby = standby();
    String url = standby.url("postgres") + "?targetServerType=any";
    PostgresCounterStore store = open(url);
    assertThat(failure(ask(store, "a", 1))).hasMessageContaining("read-only");
    standby.promote();
    await("recovered", () -> answers(ask(store, "a", 1)));
  }

  private static final String WAITING =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
  private static final String CURRENT = "SELECT pg_current_wal_lsn()";

  private PostgresProcess standby(String... options) {
    PostgresCounterStore first = store(primary);
    answer(ask(first, "first", 0)); // creates the tables
    first.close();
    answer(first.ended().thenApply(_ -> true));
    PostgresProcess standby = primary.startStandby(options);
    opened.add(standby);
    await(
        "attached",
        () -> query(primary, "SELECT state FROM pg_stat_replication").equals("streaming"));
    return standby;
  }

  private PostgresCounterStore store(PostgresProcess standby) {
    return open(url(standby));
  }

  private PostgresCounterStore open(String url) {
    PostgresCounterStore store =
        new PostgresCounterStore(
            Wanted.of(url).quickToConnect().settings(), TestSurroundings.notifying(listener));
    opened.add(store);
    return store;
  }

  private PostgresGlobalCoordinator coordinator(PostgresProcess standby) {
    PostgresGlobalCoordinator coordinator =
        new PostgresGlobalCoordinator(
            Wanted.of(url(standby)).quickToConnect().settings(),
            TestSurroundings.notifying(listener));
    opened.add(coordinator);
    return coordinator;
  }

  private String url(PostgresProcess standby) {
    return "jdbc:postgresql://127.0.0.1:%d,127.0.0.1:%d/postgres?targetServerType=primary"
        .formatted(primary.port(), standby.port());
  }

  /** Returns how many of {@code requests} for one unit of 100 are admitted. */
  private static int admitted(PostgresCounterStore store, int requests) {
    int admitted = 0;
    for (int i = 0; i < requests; i++) {
      try {
        admitted +=
            answer(store.acquire(List.of(claim(HUNDRED, "a", 1, DataLoss.DENY)))).admitted()
                ? 1
                : 0;
      } catch (CompletionException _) {
        // not admitted
      }
    }
    return admitted;
  }

  /** Requests units in one call; returns whether as many can be requested again. */
  private static boolean count(
      IntUnaryOperator granted, int units, AtomicInteger admitted, AtomicInteger unanswered) {
    try {
      int got = granted.applyAsInt(units);
      admitted.addAndGet(got);
      return got > 0;
    } catch (CompletionException _) {
      unanswered.addAndGet(units);
      return true;
    }
  }

  private static long leased(PostgresGlobalCoordinator coordinator, long units) {
    Budget budget = StoreCalls.budget(FIVE, "a");
    return answer(
            coordinator.lease(
                new BudgetLease(budget, "eu", BudgetLease.CURRENT, units, DataLoss.DENY)))
        .units();
  }

  private static String replayed(PostgresProcess standby) {
    return query(standby, "SELECT pg_last_wal_replay_lsn()");
  }

  private static void run(PostgresProcess server, String sql) {
    try (Connection connection = server.connect("postgres");
        Statement statement = connection.createStatement()) {
      statement.execute(sql);
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }

  private static String query(PostgresProcess server, String sql) {
    try (Connection connection = server.connect("postgres");
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery(sql)) {
      return row.next() ? String.valueOf(row.getString(1)) : "";
    } catch (SQLException e) {
      throw new IllegalStateException(sql, e);
    }
  }
}
