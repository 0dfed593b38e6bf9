package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.throttlekit.ManualTime;
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
  private final Deadlines deadlines = new Deadlines(loop, time, expired::add);

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

  private Call<Boolean> call() {
    return new Call.Reset(
        Slots.NONE, time.monotonicNanos() + LONG_NANOS, Asked.key(Asked.FIVE, "a"));
  }
}
