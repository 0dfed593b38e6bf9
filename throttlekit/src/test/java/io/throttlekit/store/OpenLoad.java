package io.throttlekit.store;

import java.util.List;
import java.util.Queue;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.function.Predicate;

/** Sends requests at a rate that does not depend on their answers, until it is closed. */
public final class OpenLoad implements AutoCloseable {
  private static final int COUNTERS = 1_000;
  private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
  private static final long MAX_WAIT_NANOS = TimeUnit.SECONDS.toNanos(20);

  private final CounterStore store;
  private final Function<String, Claim> claims;
  private final long[] waitsNanos;
  private final Random random;
  private final Queue<Answered> answered = new ConcurrentLinkedQueue<>();
  private final Thread thread;
  private volatile boolean stopped;

  /**
   * One request that has ended.
   *
   * @param user the user that was charged
   * @param sentNanos when it was sent, by {@link System#nanoTime}
   * @param waitNanos its wait timeout
   * @param tookNanos its duration
   */
  public record Answered(
      String user, long sentNanos, long waitNanos, long tookNanos, boolean failed) {

    /** Returns whether it failed before its own deadline. */
    public boolean failedInItsTime() {
      return failed && tookNanos < waitNanos;
    }
  }

  /**
   * Starts the load.
   *
   * @param claims of a user
   * @param waitsNanos the wait timeouts, one of which is chosen at random for each request
   */
  public OpenLoad(
      CounterStore store,
      Function<String, Claim> claims,
      int perSecond,
      long seed,
      long... waitsNanos) {
    this.store = store;
    this.claims = claims;
    this.waitsNanos = waitsNanos.clone();
    this.random = new Random(seed);
    long interval = TimeUnit.SECONDS.toNanos(1) / perSecond;
    this.thread = Thread.ofPlatform().daemon().start(() -> run(interval));
  }

  private void run(long interval) {
    long next = System.nanoTime();
    while (!stopped) {
      send();
      next += interval;
      for (long left = next - System.nanoTime(); left > 0; left = next - System.nanoTime()) {
        LockSupport.parkNanos(left);
      }
    }
  }

  private void send() {
    long wait = waitsNanos[random.nextInt(waitsNanos.length)];
    String user = "user" + random.nextInt(COUNTERS);
    long asked = System.nanoTime();
    store
        .acquire(List.of(claims.apply(user)), wait)
        .whenComplete((_, failure) ->
            answered.add(
                new Answered(user, asked, wait, System.nanoTime() - asked, failure != null)));
  }

  /** Returns the requests that have ended by now. */
  public List<Answered> answered() {
    return List.copyOf(answered);
  }

  /** Continues for {@code millis}. */
  public void goOn(long millis) {
    long end = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(millis);
    for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  /**
   * Waits until a request that was sent after a time has been answered.
   *
   * @param users the users whose requests count
   * @return how long after that time, in ns
   */
  public long answeredAfter(long nanos, Predicate<String> users) {
    long begun = System.nanoTime();
    while (System.nanoTime() - begun < MAX_WAIT_NANOS) {
      var first =
          answered.stream()
              .filter(each -> !each.failed && each.sentNanos - nanos > 0)
              .filter(each -> users.test(each.user))
              .mapToLong(each -> each.sentNanos + each.tookNanos - nanos)
              .min();
      if (first.isPresent()) {
        return first.getAsLong();
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
    throw new IllegalStateException("no answer in " + MAX_WAIT_NANOS + " ns");
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
