package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.throttlekit.ManualTime;
import io.throttlekit.store.StoreException;
import io.throttlekit.store.StoreListener.Failure;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeadlinesTest {
  private static final long LONG_NANOS = TimeUnit.MINUTES.toNanos(1);

  private final EventLoop loop = new DefaultEventLoop();
  private final ManualTime time = new ManualTime(0);
  private final List<Integer> expired = new ArrayList<>();
  private final Deadlines deadlines =
      new Deadlines(loop, time, 5, Failure.DEADLINE, (calls, _, _) -> expired.add(calls));

  @AfterEach
  void stop() {
    var _ = loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
  }

  @Test
  void anAnsweredCallIsNotKeptUntilItsTimeIsUp() throws Exception {
    loop.submit(
            () -> {
              Call<Boolean> slow = call();
              deadlines.add(slow);
              for (int i = 0; i < 1_000; i++) {
                Call<Boolean> call = call();
                deadlines.add(call);
                call.answer.complete(true);
              }
              assertThat(deadlines.size()).as("behind one that is not answered").isEqualTo(1_001);
              slow.answer.complete(true);
              deadlines.add(call());
              assertThat(deadlines.size()).isEqualTo(1);
            })
        .get();
    assertThat(expired).isEmpty();
  }

  @Test
  void aCallThatIsLateFailsAndSaysHowLongItHad() throws Exception {
    Call<Boolean> late = call(0);
    loop.submit(() -> deadlines.add(late)).get();
    assertThat(late.answer)
        .failsWithin(Duration.ofSeconds(10))
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(StoreException.class)
        .withMessageContaining("within 5 ms");
  }

  private Call<Boolean> call() {
    return call(LONG_NANOS);
  }

  private Call<Boolean> call(long nanos) {
    return new Call.Reset(Slots.NONE, time.monotonicNanos() + nanos, Asked.key(Asked.FIVE, "a"));
  }
}
