package io.throttlekit.demo.load;

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
 * An open load: requests arrive independently of each other and of responses, at a rate that may
 * change each second.
 *
 * <p>Due requests are sent together, at most one ms late while the machine keeps up; {@link
 * #latestNanos} returns the actual delay.
 */
public final class OpenLoad {
  private static final long TICK_NANOS = 1_000_000; // the longest delay while the machine keeps up

  private final EventLoop loop;
  private final Chance chance;
  private final IntToDoubleFunction perSecond;
  private final Dispatcher dispatcher;
  private final Duration timeout;
  private final TimeSource time;
  private final AtomicLongArray latest;
  private final CountDownLatch answered = new CountDownLatch(1);
  private boolean ended;
  private long startNanos;
  private long nextNanos;

  /** Sends requests on the event loop. */
  @FunctionalInterface
  public interface Dispatcher {
    /**
     * Sends a request.
     *
     * @param second since the start of the load, from 0
     * @param intendedNanos scheduled time
     */
    void send(int second, long intendedNanos);
  }

  /**
   * @param seconds duration
   * @param perSecond arrival rate of a second, above 0
   * @param timeout time after which every request has ended, in whatever way
   */
  public OpenLoad(
      EventLoop loop,
      Chance chance,
      int seconds,
      IntToDoubleFunction perSecond,
      Dispatcher dispatcher,
      Duration timeout,
      TimeSource time) {
    this.loop = loop;
    this.chance = chance;
    this.latest = new AtomicLongArray(seconds);
    this.perSecond = perSecond;
    this.dispatcher = dispatcher;
    this.timeout = timeout;
    this.time = time;
  }

  /** Starts the load. */
  public void start(long atNanos) {
    startNanos = atNanos;
    nextNanos = atNanos;
    loop.execute(this::tick);
  }

  /** Stops sending. */
  public void stop() {
    loop.execute(this::end);
  }

  /**
   * Waits until the load has ended or was stopped, and all requests have ended.
   *
   * @throws IllegalStateException if that takes a minute longer than expected
   */
  public void awaitAnswers() throws InterruptedException {
    if (!answered.await(timeout.toSeconds() + 60, TimeUnit.SECONDS)) {
      throw new IllegalStateException("the machine is too busy to end the load");
    }
  }

  /** Returns the longest delay of a request from one second to another, exclusive. */
  public long latestNanos(int from, int to) {
    return IntStream.range(from, to).mapToLong(latest::get).max().orElse(0);
  }

  private void tick() {
    long now = time.monotonicNanos();
    while (!ended && nextNanos - now <= 0) {
      int second = (int) ((nextNanos - startNanos) / 1_000_000_000L);
      if (second < latest.length()) {
        long _ = latest.accumulateAndGet(second, now - nextNanos, Math::max);
        dispatcher.send(second, nextNanos);
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
    var _ = loop.schedule(answered::countDown, timeout.toNanos() + TICK_NANOS, NANOSECONDS);
  }
}
