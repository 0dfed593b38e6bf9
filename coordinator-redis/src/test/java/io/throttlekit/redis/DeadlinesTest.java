package io.throttlekit.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.DefaultEventLoop;
import io.netty.channel.EventLoop;
import io.throttlekit.DataLoss;
import io.throttlekit.ManualTime;
import io.throttlekit.TimeSource;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.LeaseRequest;
import io.throttlekit.store.StoreException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class DeadlinesTest {
  private final EventLoop loop = new DefaultEventLoop();
  private final ManualTime time = new ManualTime(0);
  private final List<Integer> late = new ArrayList<>();
  private final List<Integer> lateLeases = new ArrayList<>();
  private final CountDownLatch swept = new CountDownLatch(3);
  private final Deadlines deadlines =
      new Deadlines(
          loop,
          time,
          (calls, leases, _) -> {
            late.add(calls);
            lateLeases.add(leases);
            swept.countDown();
          });

  @AfterEach
  void stop() {
    var _ = loop.shutdownGracefully(0, 0, TimeUnit.SECONDS);
  }

  @Test
  void anAnsweredCallIsNotKeptUntilItsTimeIsUp() throws Exception {
    loop.submit(
            () -> {
              deadlines.add(call(60_000));
              for (int i = 0; i < 1_000; i++) {
                Call<Boolean> call = call(60_000);
                deadlines.add(call);
                call.answer.complete(true);
                deadlines.remove(List.of(call));
              }
              assertThat(deadlines.size()).as("one that is not answered").isEqualTo(1);
            })
        .get();
  }

  @Test
  void eachCallFailsByItsOwnDeadlineWhateverCameBeforeIt() throws Exception {
    Call<Boolean> longer = call(1_000);
    Call<Boolean> shorter = call(20);
    Call<?> lease =
        new Call.Lease(
            Slots.NONE,
            millis(20),
            new LeaseRequest(
                StoreCalls.key(StoreCalls.FIVE, "a"),
                new FixedWindow(5, 1_000),
                1,
                DataLoss.REFILL));
    loop.submit(
            () -> {
              deadlines.add(longer);
              deadlines.add(shorter);
              deadlines.add(lease);
              time.advance(22);
            })
        .get();
    assertThat(shorter.answer)
        .failsWithin(Duration.ofSeconds(10))
        .withThrowableThat()
        .havingCause()
        .isInstanceOf(StoreException.class)
        .withMessageContaining("in time");
    assertThat(lease.answer).failsWithin(Duration.ofSeconds(10));
    loop.submit(() -> {}).get();
    assertThat(longer.answer).isNotDone();
    assertThat(late).filteredOn(calls -> calls > 0).containsExactly(1);
    assertThat(lateLeases).filteredOn(calls -> calls > 0).containsExactly(1);
  }

  @Test
  void whileCallsArePendingTheLaneLooksNowAndThen() throws Exception {
    loop.submit(() -> deadlines.add(call(60_000))).get();
    assertThat(swept.await(10, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aLoopThatWasBusyReadsWhatCameMeanwhileBeforeCallsFail() throws Exception {
    Call<Boolean> call = call(20);
    List<Call<?>> answered = List.of(call);
    BusyUntilRead busy = new BusyUntilRead();
    CountDownLatch looked = new CountDownLatch(1);
    loop.submit(
            () -> {
              Deadlines own = new Deadlines(loop, busy, (_, _, _) -> looked.countDown());
              own.add(call);
              busy.unread =
                  () -> {
                    call.answer.complete(true);
                    own.remove(answered);
                  };
            })
        .get();
    assertThat(looked.await(10, TimeUnit.SECONDS)).isTrue();
    assertThat(call.answer).isCompletedWithValue(true);
  }

  /** A clock by which the loop was busy for long, with an unread answer. */
  private final class BusyUntilRead implements TimeSource {
    private @Nullable Runnable unread;
    private long nanos;

    @Override
    public long wallMillis() {
      return 0;
    }

    @Override
    public long monotonicNanos() {
      Runnable task = unread;
      if (task != null) {
        unread = null;
        nanos = TimeUnit.SECONDS.toNanos(1);
        loop.execute(task); // like a connection's data, before timers that start later
      }
      return nanos;
    }
  }

  private Call<Boolean> call(long millis) {
    return new Call.Reset(Slots.NONE, millis(millis), StoreCalls.key(StoreCalls.FIVE, "a"));
  }

  private long millis(long millis) {
    return time.monotonicNanos() + TimeUnit.MILLISECONDS.toNanos(millis);
  }
}
