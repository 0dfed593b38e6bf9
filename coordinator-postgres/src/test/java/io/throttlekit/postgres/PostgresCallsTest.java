package io.throttlekit.postgres;

import static io.throttlekit.postgres.StoreCalls.FIVE;
import static io.throttlekit.postgres.StoreCalls.answer;
import static io.throttlekit.postgres.StoreCalls.failure;
import static io.throttlekit.postgres.StoreCalls.left;
import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.federation.Budget;
import io.throttlekit.federation.BudgetLease;
import io.throttlekit.federation.BudgetReturn;
import io.throttlekit.federation.EscrowGrant;
import io.throttlekit.federation.EscrowRefill;
import io.throttlekit.store.CallId;
import io.throttlekit.store.LeaseGrant;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import io.throttlekit.testkit.postgres.RealPostgres;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Calls that are repeated because their answer is lost or late, or concurrently. */
@RealPostgres
class PostgresCallsTest {
  private static final String LEASED = "SELECT max(leased) FROM throttlekit.windows";
  private static final String HELD = "SELECT units FROM throttlekit.escrow";

  @RegisterExtension private static final OwnDatabase database = new OwnDatabase();

  /** The clock of deadlines. */
  private final ManualTime time = new ManualTime(0);

  private final RecordingListener listener = new RecordingListener();
  private final List<AutoCloseable> opened = new ArrayList<>();
  private final CounterKey held = StoreCalls.key(FIVE, "held");
  private final Budget budget = StoreCalls.budget(FIVE, "a");
  private final CuttingProxy proxy = CuttingProxy.to(database.port());
  private PostgresCounterStore store = openStore(Wanted.of(database.url()));
  private PostgresGlobalCoordinator coordinator = openCoordinator(Wanted.of(database.url()));
  private PostgresRegionalEscrow escrow = openEscrow(Wanted.of(database.url()));
  private long end;

  @BeforeEach
  void fill() {
    opened.add(proxy);
    end = answer(escrow.health()) + FIVE.windowMillis();
    database.empty();
    assertThat(answer(refill("1", 5))).isTrue();
    answer(coordinator.lease(StoreCalls.wish(budget, "us", 1)));
    answer(store.lease(StoreCalls.lease("a", 1)));
  }

  @AfterEach
  void close() throws Exception {
    for (AutoCloseable each : opened.reversed()) {
      each.close();
    }
  }

  @Test
  void aCallWhoseReplyIsLostAtTheCommitTakesEffectOnce() {
    throughTheProxy(Wanted.of(proxied()).connections(1));
    var _ = warm(); // opens the connections, and commits
    CallId id = new CallId(16, 1);
    CallId back = new CallId(17, 1);

    LeaseGrant counted = lostThenAnswered(() -> store.lease(request(id, 3)));
    assertThat(counted.units()).isEqualTo(3);
    assertThat(left(store, "a")).isEqualTo(1);
    long end = counted.windowEndMillis();
    var _ = lostThenAnswered(() -> returnUnits(store, back, end));
    assertThat(left(store, "a")).isEqualTo(3);

    assertThat(lostThenAnswered(() -> coordinator.lease(leaseRequest(id, 3))).units()).isEqualTo(3);
    assertThat(database.query(LEASED)).isEqualTo("4");

    EscrowGrant given = lostThenAnswered(() -> escrow.lease(held, 2, id));
    assertThat(given.units()).isEqualTo(2);
    assertThat(given.left()).isEqualTo(3);
    assertThat(lostThenAnswered(() -> escrow.release(held, this.end, back))).isEqualTo(3);
    assertThat(database.query(HELD)).isEqualTo("0");
    assertThat(lostThenAnswered(() -> refill("2", 4))).isTrue();
    assertThat(database.query(HELD)).isEqualTo("4");
  }

  private <T> T lostThenAnswered(Supplier<CompletionStage<T>> call) {
    proxy.cutAtNextCommit();
    assertThat(failure(call.get()))
        .isInstanceOfSatisfying(
            StoreException.class, failed -> assertThat(failed.isNotSent()).isFalse());
    assertThat(proxy.hasCut()).isTrue();
    return answer(call.get());
  }

  @Test
  void aLateAnswerToALeaseCounts() {
    Wanted wanted = Wanted.of(proxied()).connections(1);
    throughTheProxy(wanted);
    long windowEnd = warm();
    CallId id = new CallId(16, 1);
    LeaseGrant before = answer(store.lease(request(id, 3)));
    PostgresCounterStore leasing = store;
    PostgresGlobalCoordinator granting = coordinator;
    PostgresRegionalEscrow giving = escrow;
    throughTheProxy(wanted);
    var _ = warm();
    proxy.holdAnswers();

    CompletionStage<LeaseGrant> counted = leasing.lease(request(new CallId(24, 1), 1));
    CompletionStage<Boolean> back = returnUnits(store, new CallId(17, 1), before.windowEndMillis());
    CompletionStage<LeaseGrant> leased = granting.lease(leaseRequest(id, 3));
    CompletionStage<Boolean> returned =
        coordinator.reconcile(
            new BudgetReturn(StoreCalls.budget(FIVE, "b"), "eu", "1", windowEnd, 1));
    CompletionStage<EscrowGrant> given = giving.lease(held, 2, id);
    CompletionStage<Boolean> refilled = refill("2", 4);
    CompletionStage<LeaseGrant> without = leasing.lease(StoreCalls.lease("b", 1));
    StoreCalls.await("under way", () -> proxy.holding() == 6);
    time.advance(Wanted.LONG_MILLIS + 10);
    assertThat(failure(without)).as("one without an id").hasMessageContaining("in time");

    StoreCalls.await("late", () -> listener.failures.size() == 7);
    proxy.passAnswers();
    assertThat(answer(counted).units()).isEqualTo(1);
    assertThat(answer(back)).isTrue();
    assertThat(answer(leased).units()).isEqualTo(3);
    assertThat(answer(returned)).isTrue();
    assertThat(answer(given).units()).isEqualTo(2);
    assertThat(answer(refilled)).isTrue();
    assertThat(listener.failures).as("each is counted as late").hasSize(7);
    assertThat(listener.failures).containsOnly(Failure.LEASE_DEADLINE);
  }

  private static CompletionStage<Boolean> returnUnits(
      PostgresCounterStore store, CallId id, long windowEndMillis) {
    return store.returnUnits(request(id, 3), windowEndMillis, 2).thenApply(_ -> true);
  }

  @Test
  void aCallQueuedPastItsDeadlineIsReportedAsNotSent() throws SQLException {
    throughTheProxy(Wanted.of(database.url()).connections(1).deadlines(10_000, 5_000));
    var _ = warm();
    try (Connection holder = database.connect();
        Statement sql = holder.createStatement()) {
      holder.setAutoCommit(false);
      sql.execute("SELECT FROM throttlekit.counters FOR UPDATE");
      CompletionStage<LeaseGrant> first = store.lease(request(new CallId(16, 1), 1));
      CompletionStage<LeaseGrant> second = store.lease(request(new CallId(24, 1), 1));
      time.advance(5_010);
      for (CompletionStage<LeaseGrant> each : List.of(first, second)) {
        assertThat(failure(each))
            .isInstanceOfSatisfying(
                StoreException.class, failed -> assertThat(failed.isNotSent()).isTrue());
      }
      holder.rollback();
    }
    assertThat(left(store, "a")).isEqualTo(4);
  }

  @Test
  void aCallCutBeforeTheCommitIsRetriedUnderTheSameId() {
    throughTheProxy(Wanted.of(proxied()).connections(1));
    var _ = warm();
    proxy.cutAtNextAnswer();
    assertThat(answer(store.lease(request(new CallId(16, 1), 3))).units()).isEqualTo(3);
    assertThat(proxy.hasCut()).isTrue();
    assertThat(left(store, "a")).isEqualTo(1);
  }

  @Test
  void concurrentCopiesTakeEffectOnceAndGetTheSameAnswer() {
    List<PostgresCounterStore> stores = List.of(store, openStore(Wanted.of(database.url())));
    List<PostgresGlobalCoordinator> coordinators =
        List.of(coordinator, openCoordinator(Wanted.of(database.url())));
    List<PostgresRegionalEscrow> escrows = List.of(escrow, openEscrow(Wanted.of(database.url())));
    long counted = 1;
    long leased = 1;
    long given = 0;
    for (long number = 1; number <= 4; number++) {
      List<CompletableFuture<List<Long>>> counters = new ArrayList<>();
      List<CompletableFuture<List<Long>>> budgets = new ArrayList<>();
      List<CompletableFuture<List<Long>>> regions = new ArrayList<>();
      for (long sender : new long[] {16, 24}) {
        CallId id = new CallId(sender, number);
        counters.add(
            copies(stores, each -> each.lease(request(id, 2)).thenApply(LeaseGrant::units)));
        budgets.add(
            copies(
                coordinators,
                each -> each.lease(leaseRequest(id, 2)).thenApply(LeaseGrant::units)));
        regions.add(copies(escrows, each -> each.lease(held, 2, id).thenApply(EscrowGrant::units)));
      }
      counted += sumOfEqual(counters);
      leased += sumOfEqual(budgets);
      given += sumOfEqual(regions);
    }
    assertThat(List.of(counted, leased, given)).containsOnly(5L);
    assertThat(left(store, "a")).isZero();
    assertThat(database.query("SELECT leased FROM throttlekit.windows")).isEqualTo("5");
    assertThat(database.query("SELECT units FROM throttlekit.escrow")).isEqualTo("0");
    CallId overtaken = new CallId(16, 2);
    assertThat(failure(store.lease(request(overtaken, 1)))).hasMessageContaining("a later call");
    assertThat(failure(coordinator.lease(leaseRequest(overtaken, 1))))
        .hasMessageContaining("a later call");
    assertThat(failure(escrow.lease(held, 1, overtaken))).hasMessageContaining("a later call");
    assertThat(listener.failures).as("%s", listener.reasons).isEmpty();
  }

  private static <S> CompletableFuture<List<Long>> copies(
      List<S> processes, Function<S, CompletionStage<Long>> call) {
    List<CompletableFuture<Long>> copies = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      copies.add(call.apply(processes.get(i % processes.size())).toCompletableFuture());
    }
    return CompletableFuture.allOf(copies.toArray(CompletableFuture[]::new))
        .thenApply(_ -> copies.stream().map(CompletableFuture::join).toList());
  }

  private static long sumOfEqual(List<CompletableFuture<List<Long>>> calls) {
    long sum = 0;
    for (CompletableFuture<List<Long>> each : calls) {
      List<Long> copies = answer(each);
      assertThat(copies).isEqualTo(Collections.nCopies(copies.size(), copies.getFirst()));
      sum += copies.getFirst();
    }
    return sum;
  }

  @Test
  void recordedAnswersOfCallsExpireWithTheirWindow() {
    answer(store.lease(request(new CallId(16, 1), 1)));
    assertThat(database.query("SELECT array_length(calls, 1) FROM throttlekit.counters"))
        .isEqualTo("4");
    database.run("UPDATE throttlekit.counters SET calls[1] = 7"); // as of an ended window
    answer(store.lease(request(new CallId(24, 1), 1)));
    assertThat(database.query("SELECT calls[2] FROM throttlekit.counters")).isEqualTo("24");
    assertThat(database.query("SELECT array_length(calls, 1) FROM throttlekit.counters"))
        .isEqualTo("4");
  }

  private void connect() {
    answer(store.peek(StoreCalls.key(FIVE, "a"), FIVE));
    answer(escrow.health());
    answer(coordinator.health());
  }

  private long warm() {
    connect();
    Budget other = StoreCalls.budget(FIVE, "b");
    return answer(coordinator.lease(StoreCalls.wish(other, "eu", 1))).windowEndMillis();
  }

  /** Sends the calls through a proxy, from other processes than those that filled the tables. */
  private void throughTheProxy(Wanted wanted) {
    store = openStore(wanted);
    coordinator = openCoordinator(wanted);
    escrow = openEscrow(wanted);
  }

  private Database.Surroundings surroundings() {
    return new Database.Surroundings(time, TestSurroundings.TIMER, listener, null);
  }

  private String proxied() {
    return "jdbc:postgresql://127.0.0.1:" + proxy.port() + "/" + database.name();
  }

  private PostgresCounterStore openStore(Wanted wanted) {
    PostgresCounterStore next = new PostgresCounterStore(wanted.settings(), surroundings());
    opened.add(next);
    return next;
  }

  private PostgresGlobalCoordinator openCoordinator(Wanted wanted) {
    PostgresGlobalCoordinator next =
        new PostgresGlobalCoordinator(wanted.settings(), surroundings());
    opened.add(next);
    return next;
  }

  private PostgresRegionalEscrow openEscrow(Wanted wanted) {
    PostgresRegionalEscrow next = new PostgresRegionalEscrow(wanted.settings(), surroundings());
    opened.add(next);
    return next;
  }

  private CompletionStage<Boolean> refill(String id, long units) {
    return escrow.refill(new EscrowRefill(held, id, end, 0, end, units));
  }

  private static LeaseRequest request(CallId id, long units) {
    return new LeaseRequest(StoreCalls.key(FIVE, "a"), FIVE, units, DataLoss.REFILL, id);
  }

  private BudgetLease leaseRequest(CallId id, long units) {
    return new BudgetLease(budget, "eu", BudgetLease.CURRENT, units, DataLoss.REFILL, id);
  }
}
