package io.throttlekit.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.CounterKey;
import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.fairness.FairTenant;
import io.throttlekit.fairness.FairTerms;
import io.throttlekit.fairness.TenantWeight;
import io.throttlekit.postgres.Calls.Deadline;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class CallsTest {

  @Test
  void aWaitingCallThatTimesOutEndsBeforeAConnectionIsFree() throws Exception {
    ManualTime time = new ManualTime(0);
    Wanted wanted = Wanted.of("jdbc:postgresql://unused/db").connections(1).deadlines(20, 20);
    Calls calls = new Calls(wanted.settings(), time, TestSurroundings.TIMER, StoreListener.NONE);
    CompletableFuture<Boolean> begun = new CompletableFuture<>();
    CompletableFuture<Boolean> held = new CompletableFuture<>();
    AtomicBoolean made = new AtomicBoolean();
    CompletionStage<Boolean> running =
        calls.submit(
            Deadline.NONE,
            Turns.NO_TENANT,
            _ -> {
              begun.complete(true);
              return held.join();
            });
    assertThat(StoreCalls.answer(begun)).isTrue();
    CompletionStage<Boolean> waiting =
        calls.submit(Deadline.NONE, Turns.NO_TENANT, _ -> made.getAndSet(true));
    time.advance(25);
    assertThat(StoreCalls.failure(waiting))
        .isInstanceOfSatisfying(
            StoreException.class, failure -> assertThat(failure.isNotSent()).isTrue());
    assertThat(running.toCompletableFuture()).isNotDone();
    held.complete(true);
    assertThat(StoreCalls.answer(running)).isTrue();
    calls.close();
    assertThat(calls.ended().toCompletableFuture().get(240, TimeUnit.SECONDS)).isTrue();
    assertThat(made).isFalse();
  }

  @Test
  void theFailureOfABugNamesIt() {
    Calls calls =
        new Calls(
            Wanted.of("jdbc:postgresql://unused/db").settings(),
            TimeSource.system(),
            TestSurroundings.TIMER,
            StoreListener.NONE);
    CompletionStage<Boolean> failed =
        calls.submit(
            Deadline.NONE,
            Turns.NO_TENANT,
            _ -> {
              throw new IndexOutOfBoundsException("at 5");
            });
    assertThat(StoreCalls.failure(failed))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("IndexOutOfBoundsException: at 5");
    calls.close();
  }

  @Test
  void aTransactionThatFailsIsOneFailureForTheBreakerHoweverManyCallsItHas() throws Exception {
    Wanted wanted =
        Wanted.of("jdbc:postgresql://unused/db").connections(1).breaker(2, 60_000, 60_000);
    RecordingListener listener = new RecordingListener();
    Calls calls =
        new Calls(wanted.settings(), TimeSource.system(), TestSurroundings.TIMER, listener);
    CompletableFuture<Boolean> held = new CompletableFuture<>();
    CompletionStage<Boolean> first = calls.submit(Deadline.NONE, Turns.NO_TENANT, _ -> held.join());
    AtomicInteger transactions = new AtomicInteger();
    List<CompletionStage<Boolean>> together = new ArrayList<>();
    for (int i = 0; i < 10; i++) {
      together.add(
          calls.submit(
              Deadline.NONE,
              Long.MAX_VALUE,
              place(true),
              i,
              (requests, _) -> {
                transactions.incrementAndGet();
                throw new SQLException("lost " + requests, "08006");
              }));
    }
    held.complete(true);
    assertThat(StoreCalls.answer(first)).isTrue();
    together.forEach(call -> assertThat(StoreCalls.failure(call)).hasMessageContaining("lost [0"));
    assertThat(transactions).hasValue(1);
    assertThat(listener.failures).hasSize(10);
    assertThat(calls.isDown()).isFalse();
    calls.close();
  }

  /** The end of a listed tenant's transaction lets its next one begin and one of the others. */
  @Test
  void twoTransactionsBeginAtOnceAfterTheEndOfOne() {
    Calls calls =
        new Calls(
            Wanted.of("jdbc:postgresql://unused/db").connections(2).settings(),
            TimeSource.system(),
            TestSurroundings.TIMER,
            StoreListener.NONE);
    CompletableFuture<Boolean> held = new CompletableFuture<>();
    CompletionStage<Boolean> first = calls.submit(Deadline.NONE, place(true), _ -> held.join());
    CompletionStage<Boolean> beside = calls.submit(Deadline.NONE, place(false), _ -> true);
    assertThat(StoreCalls.answer(beside)).isTrue();
    CompletableFuture<Boolean> listed = new CompletableFuture<>();
    CompletableFuture<Boolean> unlisted = new CompletableFuture<>();
    CompletionStage<Boolean> both =
        calls
            .submit(
                Deadline.NONE,
                place(false),
                _ -> {
                  unlisted.complete(true);
                  return listed.join();
                })
            .thenCombine(
                calls.submit(
                    Deadline.NONE,
                    place(true),
                    _ -> {
                      listed.complete(true);
                      return unlisted.join();
                    }),
                Boolean::logicalAnd);
    assertThat(unlisted).isNotDone();
    held.complete(true);
    assertThat(StoreCalls.answer(first)).isTrue();
    assertThat(StoreCalls.answer(both)).isTrue();
    calls.close();
  }

  private static Turns.Place place(boolean listed) {
    TenantWeight weight = new TenantWeight(1, listed);
    FairTenant tenant =
        new FairTenant(CounterKey.of("tenants", "org", "a"), weight, FairTerms.of(10, 1_000));
    return Turns.Place.of(CounterKey.of("pool", "api", "x"), tenant, true);
  }

  /** Deadlines pass while the only thread takes calls from the queue, in many orders. */
  @Test
  void callsThatTimeOutWhileOthersBeginEndOnceAndLetTheStoreEnd() throws Exception {
    Wanted wanted = Wanted.of("jdbc:postgresql://unused/db").connections(1).deadlines(2, 2);
    for (int round = 0; round < 300; round++) {
      Calls calls =
          new Calls(
              wanted.settings(), TimeSource.system(), TestSurroundings.TIMER, StoreListener.NONE);
      AtomicInteger made = new AtomicInteger();
      List<CompletableFuture<Integer>> replies = new ArrayList<>();
      for (int i = 0; i < 2_000; i++) {
        replies.add(
            calls
                .submit(Deadline.NONE, Turns.NO_TENANT, _ -> made.incrementAndGet())
                .toCompletableFuture());
      }
      calls.close();
      assertThat(calls.ended().toCompletableFuture().get(240, TimeUnit.SECONDS)).isTrue();
      long answered =
          replies.stream()
              .filter(reply ->
                  reply
                      .handle((_, failure) -> failure == null)
                      .completeOnTimeout(false, 240, TimeUnit.SECONDS)
                      .join())
              .count();
      assertThat(answered).as("round %d", round).isEqualTo(made.get());
    }
  }
}
