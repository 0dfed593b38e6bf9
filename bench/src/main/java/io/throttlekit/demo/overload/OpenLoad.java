package io.throttlekit.demo.overload;

import static java.util.concurrent.TimeUnit.NANOSECONDS;

import io.netty.channel.EventLoop;
import io.throttlekit.TimeSource;
import io.throttlekit.bench.concurrency.Chance;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntToDoubleFunction;

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
  private final AtomicLong latest = new AtomicLong();
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
   * @param perSecond requests that are to come in a second, more than 0; or less, and that second
   *     is the end
   * @param patience when each request that was sent has ended, whatever became of it
   */
  OpenLoad(
      EventLoop loop,
      Chance chance,
      IntToDoubleFunction perSecond,
      Sender sender,
      Duration patience,
      TimeSource time) {
    this.loop = loop;
    this.chance = chance;
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

  /** How late the latest of all requests was sent. */
  long latestNanos() {
    return latest.get();
  }

  private void tick() {
    long now = time.monotonicNanos();
    latest.accumulateAndGet(now - nextNanos, Math::max);
    while (!ended && nextNanos - now <= 0) {
      int second = (int) ((nextNanos - startNanos) / 1_000_000_000L);
      double rate = perSecond.applyAsDouble(second);
      if (rate <= 0) {
        end();
      } else {
        sender.send(second, nextNanos);
        nextNanos += (long) (chance.exponential() * 1e9 / rate);
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
