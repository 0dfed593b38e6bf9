package io.throttlekit.once;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.ManualTime;
import io.throttlekit.store.CallId;
import io.throttlekit.store.StoreException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class OnceCallsTest {
  private static final long MILLI = 1_000_000;

  private final ManualTime time = new ManualTime(0);
  private final List<Runnable> alarms = new ArrayList<>();
  private final List<CallId> ids = new ArrayList<>();
  private final List<CompletableFuture<Long>> sent = new ArrayList<>();
  private final List<Long> late = new ArrayList<>();
  private final List<Boolean> ended = new ArrayList<>();
  private final OnceCalls<String, Long> calls = calls(false);

  private OnceCalls<String, Long> calls(boolean persistent) {
    return new OnceCalls<>(
        new OnceCalls.Settings(8, 250 * MILLI, 1_000 * MILLI, persistent),
        new Clocks(time, (_, task) -> alarms.add(task)),
        units -> units / 100);
  }

  @Test
  void aLateAnswerIsDeliveredOnce() {
    CompletableFuture<Answered<Long>> answer = call(calls);
    pass(1_000);
    assertThat(answer).isCompletedExceptionally();
    sent.get(0).complete(7L);
    sent.get(1).complete(7L);
    assertThat(late).containsExactly(7L);
    assertThat(calls.size()).isZero();
  }

  @Test
  void anUnansweredCallIsResentUnderItsId() {
    CompletableFuture<Answered<Long>> answer = call(calls);
    pass(250);
    assertThat(ids).containsExactly(new CallId(8, 1), new CallId(8, 1));
    sent.get(1).complete(7L);
    assertThat(answer.join()).isEqualTo(new Answered<>(7L, 250 * MILLI));
    sent.get(0).complete(7L);
    assertThat(late).isEmpty();
  }

  @Test
  void theNextCallResendsOneWhoseAnswerWasLost() {
    CompletableFuture<Answered<Long>> first = call(calls);
    sent.get(0).completeExceptionally(new StoreException("connection closed", null));
    assertThat(first).isCompletedExceptionally();
    CompletableFuture<Answered<Long>> second = call(calls);
    sent.get(1).complete(7L);
    assertThat(second.join().value()).isEqualTo(7L);
    var _ = call(calls);
    assertThat(ids).containsExactly(new CallId(8, 1), new CallId(8, 1), new CallId(8, 2));
  }

  @Test
  void anUnsentCallEndsAtOnceUnlessItIsPersistent() {
    var _ = call(calls);
    sent.get(0).completeExceptionally(StoreException.notSent("down"));
    assertThat(ended).containsExactly(false);
    OnceCalls<String, Long> persistent = calls(true);
    var _ = call(persistent);
    sent.get(1).completeExceptionally(StoreException.notSent("down"));
    pass(250);
    sent.get(2).complete(7L);
    assertThat(late).containsExactly(7L);
  }

  @Test
  void anAnswerOfALaterWindowIsSeparate() {
    CompletableFuture<Answered<Long>> answer = call(calls);
    pass(250);
    sent.get(0).complete(107L);
    sent.get(1).complete(205L);
    assertThat(answer.join().value()).isEqualTo(107L);
    assertThat(late).containsExactly(205L);
  }

  @Test
  void aCallIsAbandonedOnceItsAnswerCannotCount() {
    var _ = call(calls);
    for (int i = 0; i < 50; i++) {
      pass(250);
    }
    assertThat(calls.size()).isZero();
    assertThat(ended).containsExactly(true);
    assertThat(alarms).isEmpty();
    assertThat(sent).as("sent to a store that hangs").hasSize(3);
  }

  private CompletableFuture<Answered<Long>> call(OnceCalls<String, Long> of) {
    return of.call("a", 10_000 * MILLI, this::send, this::ended).toCompletableFuture();
  }

  private CompletionStage<Long> send(CallId id) {
    ids.add(id);
    CompletableFuture<Long> answer = new CompletableFuture<>();
    sent.add(answer);
    return answer;
  }

  private void pass(long millis) {
    for (long passed = 0; passed < millis; passed += 250) {
      time.advance(250);
      List<Runnable> due = List.copyOf(alarms);
      alarms.clear();
      due.forEach(Runnable::run);
    }
  }

  private void ended(@Nullable Answered<Long> answer, boolean mayHaveActed) {
    if (answer != null) {
      late.add(answer.value());
    } else {
      ended.add(mayHaveActed);
    }
  }
}
