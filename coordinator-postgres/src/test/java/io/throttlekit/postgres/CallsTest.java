package io.throttlekit.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.TimeSource;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(120)
class CallsTest {

  @Test
  void aWaitingCallThatTimesOutEndsBeforeAConnectionIsFree() throws Exception {
    Wanted wanted = Wanted.of("jdbc:postgresql://unused/db").connections(1).deadlines(20, 20);
    Calls calls =
        new Calls(
            wanted.settings(), TimeSource.system(), TestSurroundings.TIMER, StoreListener.NONE);
    CompletableFuture<Boolean> held = new CompletableFuture<>();
    AtomicBoolean made = new AtomicBoolean();
    CompletionStage<Boolean> running =
        calls.submit(Deadline.NONE, Long.MAX_VALUE, _ -> held.join());
    CompletionStage<Boolean> waiting =
        calls.submit(Deadline.NONE, Long.MAX_VALUE, _ -> made.getAndSet(true));
    assertThat(StoreCalls.failure(waiting))
        .isInstanceOfSatisfying(
            StoreException.class, failure -> assertThat(failure.isNotSent()).isTrue());
    assertThat(running.toCompletableFuture()).isNotDone();
    held.complete(true);
    assertThat(StoreCalls.answer(running)).isTrue();
    calls.close();
    assertThat(calls.ended().toCompletableFuture().get(60, TimeUnit.SECONDS)).isTrue();
    assertThat(made).isFalse();
  }
}
