package io.throttlekit.postgres;

import static io.throttlekit.postgres.ReplicatedPostgres.query;
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
import java.sql.SQLException;
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
    ReplicatedPostgres both = synchronous();
    PostgresCounterStore store = store(both);
    assertSurvivesFailover(
        both,
        units ->
            answer(store.acquire(List.of(claim(MANY, "a", units, DataLoss.DENY)))).admitted()
                ? units
                : 0);
    assertThat(listener.losses).isEmpty();
  }

  @Test
  void aCoordinatorOnASynchronousStandbyKeepsGrants() throws Exception {
    ReplicatedPostgres both = synchronous();
    PostgresGlobalCoordinator coordinator = coordinator(both);
    Budget budget = StoreCalls.budget(MANY, "a");
    assertSurvivesFailover(
        both,
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
  private void assertSurvivesFailover(ReplicatedPostgres both, IntUnaryOperator granted)
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
    both.standby().promote();
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
    ReplicatedPostgres both = asynchronous();
    PostgresCounterStore store = store(both);
    PostgresGlobalCoordinator coordinator = coordinator(both);
    assertThat(admitted(store, 40)).isEqualTo(40);
    assertThat(leased(coordinator, BUDGET_UNITS)).isEqualTo(BUDGET_UNITS);
    both.cutOff();
    assertThat(admitted(store, 60)).as("which the standby lacks").isEqualTo(60);
    both.failOver();
    await("recovered", () -> answers(ask(store, "other", 0)));
    assertThat(admitted(store, 100)).isZero();
    assertThat(admitted(store(both), 100)).as("by a new process").isZero();
    await("coordinator", () -> answers(coordinator.health()));
    assertThat(leased(coordinator, 5)).isZero();
    assertThat(listener.losses).as("counters and budgets").hasSize(2);
    assertThat(answer(ask(store, "anybody", 1)).admitted()).as("where refilled").isTrue();
  }

  @Test
  void aRestartedPrimaryHasLostNothing() throws Exception {
    PostgresCounterStore store = open(primary.url("postgres"));
    assertThat(admitted(store, 40)).isEqualTo(40);
    primary.kill();
    primary.restart();
    await("recovered", () -> answers(ask(store, "other", 0)));
    assertThat(admitted(store, 100)).isEqualTo(60);
    assertThat(listener.losses).isEmpty();
  }

  @Test
  void aCommitNotConfirmedByTheStandbyIsNotAnswered() throws Exception {
    ReplicatedPostgres both = synchronous();
    PostgresCounterStore store = store(both);
    assertThat(admitted(store, 1)).isEqualTo(1);
    both.standby().hang();
    try {
      CompletableFuture<?> waiting =
          store.acquire(List.of(claim(HUNDRED, "a", 1, DataLoss.DENY))).toCompletableFuture();
      await("waiting", () -> query(primary, WAITING).equals("1"));
      query(
          primary,
          "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      assertThat(failure(waiting))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("without its standby");
    } finally {
      both.standby().goOn();
    }
  }

  @Test
  void anAnswerIsRepeatedOnlyOnceTheStandbyHasIt() throws Exception {
    ReplicatedPostgres both = synchronous();
    PostgresCounterStore store = store(both);
    PostgresGlobalCoordinator coordinator = coordinator(both);
    assertThat(admitted(store, 1)).isEqualTo(1);
    assertThat(leased(coordinator, 1)).isEqualTo(1);
    CallId id = new CallId(16, 1);
    LeaseRequest request =
        new LeaseRequest(StoreCalls.key(HUNDRED, "a"), HUNDRED, 2, DataLoss.DENY, id);
    BudgetLease lease =
        new BudgetLease(
            StoreCalls.budget(FIVE, "a"), "eu", BudgetLease.CURRENT, 2, DataLoss.DENY, id);
    both.standby().hang();
    List<CompletableFuture<LeaseGrant>> again = new ArrayList<>();
    try {
      List<CompletableFuture<LeaseGrant>> waiting = new ArrayList<>();
      waiting.add(store.lease(request).toCompletableFuture());
      waiting.add(coordinator.lease(lease).toCompletableFuture());
      await("waiting", () -> query(primary, WAITING).equals("2"));
      query(
          primary,
          "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'");
      waiting.forEach(
          each -> assertThat(failure(each)).hasMessageContaining("without its standby"));
      again.add(store.lease(request).toCompletableFuture());
      again.add(coordinator.lease(lease).toCompletableFuture());
      await("waiting again", () -> query(primary, WAITING).equals("2"));
      assertThat(again).noneMatch(CompletableFuture::isDone);
    } finally {
      both.standby().goOn();
    }
    assertThat(again).allSatisfy(each -> assertThat(answer(each).units()).isEqualTo(2));
    assertThat(admitted(store, 100)).as("of 100").isEqualTo(97);
    assertThat(leased(coordinator, 5)).as("of 5").isEqualTo(2);
  }

  @Test
  void disconnectsFromAServerThatBecameReadOnly() throws Exception {
    ReplicatedPostgres both = asynchronous();
    String url = both.standby().url("postgres") + "?targetServerType=any";
    PostgresCounterStore store = open(url);
    assertThat(failure(ask(store, "a", 1))).hasMessageContaining("read-only");
    both.standby().promote();
    await("recovered", () -> answers(ask(store, "a", 1)));
  }

  private static final String WAITING =
      "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";

  private ReplicatedPostgres synchronous() {
    createTables();
    ReplicatedPostgres both = ReplicatedPostgres.synchronous(primary);
    opened.add(both);
    return both;
  }

  private ReplicatedPostgres asynchronous() {
    createTables();
    ReplicatedPostgres both = ReplicatedPostgres.asynchronous(primary);
    opened.add(both);
    return both;
  }

  private void createTables() {
    PostgresCounterStore first = open(primary.url("postgres"));
    answer(ask(first, "first", 0));
    first.close();
    answer(first.ended().thenApply(_ -> true));
  }

  private PostgresCounterStore store(ReplicatedPostgres both) {
    return open(both.url());
  }

  private PostgresCounterStore open(String url) {
    PostgresCounterStore store =
        new PostgresCounterStore(
            Wanted.of(url).quickToConnect().settings(), TestSurroundings.notifying(listener));
    opened.add(store);
    return store;
  }

  private PostgresGlobalCoordinator coordinator(ReplicatedPostgres both) {
    PostgresGlobalCoordinator coordinator =
        new PostgresGlobalCoordinator(
            Wanted.of(both.url()).quickToConnect().settings(),
            TestSurroundings.notifying(listener));
    opened.add(coordinator);
    return coordinator;
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
}
