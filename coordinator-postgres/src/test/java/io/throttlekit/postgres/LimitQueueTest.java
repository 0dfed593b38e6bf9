package io.throttlekit.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.store.RecordingListener;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class LimitQueueTest {
  private static final long MILLI = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long JOINS = 0;
  private static final long WAIT_MILLIS = 1_500;

  private final ManualTime time = new ManualTime(0);
  private final RecordingListener listener = new RecordingListener();
  private final AtomicBoolean down = new AtomicBoolean();
  private final List<Runnable> expiries = new ArrayList<>();
  private final LimitQueue queue =
      new LimitQueue(
          2,
          WAIT_MILLIS * MILLI,
          time,
          (nanos, task) -> {
            assertThat(nanos).isEqualTo(WAIT_MILLIS * MILLI);
            expiries.add(task);
          },
          listener,
          down::get);

  /** The calls that are made, by the order of their begin, until they are answered. */
  private final Map<String, CompletableFuture<String>> made = new LinkedHashMap<>();

  @Test
  void aHeartbeatThatMayLoseItsShareGoesFirst() {
    beat("busy1", 1_000);
    beat("busy2", 1_000);
    beat("joins", JOINS);
    beat("later", 900);
    beat("soon", 300);
    answer("busy1");
    assertThat(made).containsOnlyKeys("busy2", "soon");
    answer("busy2");
    assertThat(made).containsOnlyKeys("soon", "later");
    answer("soon");
    assertThat(made).containsOnlyKeys("later", "joins");
  }

  @Test
  void nodesThatJoinLeaveAConnectionToTheOthers() {
    beat("join1", JOINS);
    beat("join2", JOINS);
    assertThat(made).containsOnlyKeys("join1");
    beat("held", 1_000);
    assertThat(made).containsOnlyKeys("join1", "held");
    answer("join1");
    assertThat(made).containsOnlyKeys("held", "join2");
  }

  @Test
  void nodesThatLeaveGoBeforeThoseThatJoinAndTheLatestOfTheseGoesFirst() {
    beat("join1", JOINS);
    beat("join2", JOINS);
    queue.call("leave1", () -> made("leave1"));
    beat("join3", JOINS);
    queue.call("leave2", () -> made("leave2"));
    List<String> order = new ArrayList<>();
    while (!made.isEmpty()) {
      order.addAll(made.keySet());
      answer(order.getLast());
    }
    assertThat(order).containsExactly("join1", "leave1", "leave2", "join3", "join2");
  }

  @Test
  void aHeartbeatThatCannotBeAnsweredInTimeDoesNotGoFirst() {
    beat("slow", 1_000);
    beat("busy", 1_000);
    time.advance(400);
    beat("in time", 700);
    beat("too late", 300);
    answer("slow"); // took 400 ms
    assertThat(made).containsOnlyKeys("busy", "in time");
    answer("busy");
    assertThat(made).containsOnlyKeys("in time", "too late");
  }

  @Test
  void aLimitHasOneCallAtATime() {
    beat("locked", 1_000);
    CompletionStage<String> second = beat("locked", 1_000);
    beat("free", 1_000);
    assertThat(made).containsOnlyKeys("locked", "free");
    answer("free");
    assertThat(made).containsOnlyKeys("locked");
    answer("locked");
    assertThat(made).containsOnlyKeys("locked");
    answer("locked");
    assertThat(second).isCompletedWithValue("locked");
  }

  @Test
  void noNodeJoinsWhileTheOthersWaitForLong() {
    beat("a", 1_000);
    beat("b", 1_000);
    beat("c", 1_000);
    time.advance(250);
    answer("a");
    answer("b");
    CompletionStage<String> refused = beat("joins", JOINS);
    assertNotSent(refused, "late to answer");
    assertThat(beat("d", 1_000)).as("has a share").isNotCompleted();
    answer("c");
    answer("d");
    time.advance(1_000);
    beat("joins", JOINS);
    assertThat(made).containsOnlyKeys("joins");
  }

  @Test
  void aWaitForTheOwnLimitIsNoReasonToRefuseNodesThatJoin() {
    beat("locked", 1_000);
    beat("locked", 1_000);
    time.advance(400);
    answer("locked");
    beat("joins", JOINS);
    assertThat(made).containsOnlyKeys("locked", "joins");
  }

  @Test
  void aCallThatWaitsTooLongIsNotMade() {
    beat("a", 1_000);
    beat("b", 1_000);
    CompletionStage<String> late = beat("c", 1_000);
    expiries.forEach(Runnable::run);
    assertNotSent(late, "not sent in time");
    assertThat(listener.failures).containsExactly(Failure.LEASE_DEADLINE);
    answer("a");
    assertThat(made).containsOnlyKeys("b");
  }

  @Test
  void noCallWaitsForAServerThatIsDown() {
    beat("a", 1_000);
    down.set(true);
    assertNotSent(beat("a", 1_000), "not sent");
    assertThat(listener.failures).containsExactly(Failure.OPEN);
  }

  @Test
  void callsThatFailAtOnceLetTheNextOnesBegin() {
    beat("a", 1_000);
    beat("b", 1_000);
    List<CompletionStage<Object>> failed = new ArrayList<>();
    for (int i = 0; i < 20_000; i++) {
      failed.add(
          queue.call("c" + i, () -> CompletableFuture.failedStage(StoreException.notSent("no"))));
    }
    answer("a");
    assertThat(failed).allMatch(each -> each.toCompletableFuture().isCompletedExceptionally());
  }

  @Test
  void closeSendsWhatWaits() {
    beat("a", 1_000);
    beat("b", 1_000);
    queue.call("leaves", () -> made("leaves"));
    queue.close();
    assertThat(made).containsOnlyKeys("a", "b", "leaves");
  }

  private CompletionStage<String> beat(String limit, long leftMillis) {
    long until = time.monotonicNanos() + leftMillis * MILLI;
    return queue.heartbeat(
        limit, () -> leftMillis == JOINS ? 0 : until - time.monotonicNanos(), () -> made(limit));
  }

  private CompletionStage<String> made(String limit) {
    CompletableFuture<String> answer = new CompletableFuture<>();
    assertThat(made.put(limit, answer)).as("one call at a time").isNull();
    return answer;
  }

  private void answer(String limit) {
    Objects.requireNonNull(made.remove(limit), limit).complete(limit);
  }

  private static void assertNotSent(CompletionStage<String> call, String why) {
    assertThat(StoreCalls.failure(call))
        .isInstanceOfSatisfying(
            StoreException.class, failure -> assertThat(failure.isNotSent()).isTrue())
        .hasMessageContaining(why);
  }
}
