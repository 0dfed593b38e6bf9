package io.throttlekit.redis;

import io.throttlekit.store.CounterStore;
import io.throttlekit.store.StoreException;
import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Requests at a rate that does not depend on their answers, until it is closed. */
final class OpenLoad implements AutoCloseable {
  private static final int COUNTERS = 1_000;

  private final CounterStore store;
  private final long[] waitsNanos;
  private final Random random;
  private final Queue<Answered> answered = new ConcurrentLinkedQueue<>();
  private final Thread thread;
  private volatile boolean stopped;

  /**
   * One request that has ended.
   *
   * @param askedNanos when it was asked, as {@link System#nanoTime} says
   * @param waitNanos how long it would have waited
   * @param tookNanos until its end
   */
  record Answered(long askedNanos, long waitNanos, long tookNanos, boolean failed) {

    boolean endedInItsTime() {
      return failed && tookNanos < waitNanos;
    }
  }

  /** Begins; each request waits for one of {@code waitsNanos}. */
  OpenLoad(CounterStore store, int perSecond, long seed, long... waitsNanos) {
    this.store = store;
    this.waitsNanos = waitsNanos.clone();
    this.random = new Random(seed);
    long interval = TimeUnit.SECONDS.toNanos(1) / perSecond;
    this.thread = Thread.ofPlatform().daemon().start(() -> run(interval));
  }

  private void run(long interval) {
    long next = System.nanoTime();
    while (!stopped) {
      ask();
      next += interval;
      for (long left = next - System.nanoTime(); left > 0; left = next - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
    }
  }

  private void ask() {
    long wait = waitsNanos[random.nextInt(waitsNanos.length)];
    String user = "user" + random.nextInt(COUNTERS);
    long asked = System.nanoTime();
    store
        .acquire(List.of(Asked.claim(Asked.FIVE, user, 1, io.throttlekit.DataLoss.REFILL)), wait)
        .whenComplete((_, failure) ->
            answered.add(
                new Answered(
                    asked,
                    wait,
                    System.nanoTime() - asked,
                    failure != null && StoreException.of(failure) != null)));
  }

  /** Those that have ended by now. */
  List<Answered> answered() {
    return List.copyOf(answered);
  }

  @Override
  public void close() {
    stopped = true;
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
