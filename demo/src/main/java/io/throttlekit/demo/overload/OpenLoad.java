package io.throttlekit.demo.overload;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.channel.EventLoop;
import io.throttlekit.TimeSource;
import io.throttlekit.simulator.concurrency.Chance;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * Requests that come independently of each other and of what becomes of others, at a rate that may
 * change each second.
 *
 * <p>Those that are due are sent together, a millisecond late at most while the machine keeps up;
 * {@link #latestNanos} tells whether it did.
 */
final class OpenLoad {
  private static final long TICK_NANOS = 1_000_000;

  private final EventLoop loop;
  private final Chance chance;
  private final IntToDoubleFunction perSecond;
  private final Sender sender;
  private final Duration patience;
  private final TimeSource time;
  private final AtomicLongArray latest;
  private final CountDownLatch answered = new CountDownLatch(1);
  private boolean ended;
  private long startNanos;
  private long nextNanos;

  /** Sends a request on the event loop. */
  @FunctionalInterface
  interface Sender {
    /**
     * Sends it.
     *
     * @param second since the load began, from 0
     * @param intendedNanos when it was to be sent
     */
    void send(int second, long intendedNanos);
  }

  /**
   * @param seconds until its end
   * @param perSecond requests that are to come in a second, more than 0
   * @param patience when each request that was sent has ended, whatever became of it
   */
  OpenLoad(
      EventLoop loop,
      Chance chance,
      int seconds,
      IntToDoubleFunction perSecond,
      Sender sender,
      Duration patience,
      TimeSource time) {
    this.loop = loop;
    this.chance = chance;
    this.latest = new AtomicLongArray(seconds);
    this.perSecond = perSecond;
    this.sender = sender;
    this.patience = patience;
    this.time = time;
  }

  /** Begins. */
  void start(long atNanos) {
    startNanos = atNanos;
    nextNanos = atNanos;
    loop.execute(this::tick);
  }

  /** Sends no more. */
  void stop() {
    loop.execute(this::end);
  }

  /**
   * Waits until the load has come to its end, or was stopped, and every request has ended.
   *
   * @throws IllegalStateException when that takes a minute longer than it should
   */
  void awaitAnswers() throws InterruptedException {
    if (!answered.await(patience.toSeconds() + 60, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the machine is too busy to end the load");
    }
  }

  /** How late the latest request was sent, from one second on until, but without, another. */
  long latestNanos(int from, int to) {
    return IntStream.range(from, to).mapToLong(latest::get).max().orElse(0);
  }

  private void tick() {
    long now = time.monotonicNanos();
    while (!ended && nextNanos - now <= 0) {
      int second = (int) ((nextNanos - startNanos) / 1_000_000_000L);
      if (second < latest.length()) {
        long _ = latest.accumulateAndGet(second, now - nextNanos, Math::max);
        sender.send(second, nextNanos);
        nextNanos += (long) (chance.exponential() * 1e9 / perSecond.applyAsDouble(second));
      } else {
        end();
      }
    }
    if (!ended) {
      var _ = loop.schedule(this::tick, Math.max(nextNanos - now, TICK_NANOS), NANOSECONDS);
    }
  }

  private void end() {
    ended = true;
    var _ = loop.schedule(answered::countDown, patience.toNanos() + TICK_NANOS, NANOSECONDS);
  }
}
