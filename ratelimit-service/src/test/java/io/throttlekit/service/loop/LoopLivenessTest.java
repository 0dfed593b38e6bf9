package io.throttlekit.service.loop;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import io.netty.util.concurrent.SingleThreadEventExecutor;
import io.throttlekit.TimeSource;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class LoopLivenessTest {
  private static final Duration LONG = Duration.ofMinutes(5);
  private static final Duration SHORT = Duration.ofMillis(1);

  private final EventLoopGroup loops =
      LoopThread.loops(2, "checked", NioIoHandler.newFactory(), TimeSource.system());
  private final LoopLiveness liveness = new LoopLiveness(TimeSource.system());
  private final CountDownLatch release = new CountDownLatch(1);

  @AfterEach
  void end() {
    release.countDown();
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
  }

  @Test
  void loopsThatRunTasksAreNotHung() throws Exception {
    assertThat(liveness.hung(LONG)).as("no loops").isZero();
    liveness.add(loops);
    assertThat(liveness.hung(LONG)).isZero();
  }

  @Test
  void aLoopIsHungWhileATaskDoesNotReturnAndHasOneTaskOfAllChecks() throws Exception {
    liveness.add(loops);
    CountDownLatch blocked = new CountDownLatch(1);
    SingleThreadEventExecutor loop = (SingleThreadEventExecutor) loops.next();
    loop.execute(() -> block(blocked));
    blocked.await();

    assertThat(liveness.hung(SHORT)).isPositive();
    for (int check = 0; check < 10; check++) {
      int _ = liveness.hung(SHORT);
    }
    assertThat(loop.pendingTasks()).isEqualTo(1);

    release.countDown();
    assertThat(liveness.hung(LONG)).isZero();
  }

  @Test
  void allLoopsTogetherHaveTheTimeOfACheck() throws Exception {
    LoopLiveness once = new LoopLiveness(new Passing());
    once.add(loops);
    CountDownLatch blocked = new CountDownLatch(2);
    loops.forEach(loop -> loop.execute(() -> block(blocked)));
    blocked.await();
    assertThat(once.hung(LONG)).isEqualTo(2);
  }

  @Test
  void loopsThatAreShutDownAreNotHung() throws Exception {
    liveness.add(loops);
    loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).awaitUninterruptibly();
    assertThat(liveness.hung(LONG)).isZero();
  }

  /** A clock that is beyond the end of a check when it is read for the second time. */
  private static final class Passing implements TimeSource {
    private long nanos;

    @Override
    public long monotonicNanos() {
      long now = nanos;
      nanos = LONG.toNanos();
      return now;
    }

    @Override
    public long wallMillis() {
      return 0;
    }
  }

  private void block(CountDownLatch blocked) {
    blocked.countDown();
    try {
      release.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
