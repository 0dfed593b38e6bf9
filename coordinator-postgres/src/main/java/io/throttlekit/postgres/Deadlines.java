package io.throttlekit.postgres;

import io.throttlekit.TimeSource;
import io.throttlekit.tier.Timer;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Ends calls whose time is up. All have as long, so they are kept in the order in which they came,
 * and one timer serves them all. Thread-safe.
 */
final class Deadlines {
  private static final long FINEST_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

  private final TimeSource time;
  private final Timer timer;
  private final long nanos;
  private final Queue<Waiting> waiting = new ArrayDeque<>();
  private boolean timed;

  /** A call that ends at a time. */
  interface Ends {
    boolean isAnswered();

    /** Its time is up. Does nothing if it was answered. */
    void late();
  }

  private record Waiting(Ends call, long atNanos) {}

  /**
   * @param millis how long each has
   */
  Deadlines(TimeSource time, Timer timer, long millis) {
    this.time = time;
    this.timer = timer;
    this.nanos = TimeUnit.MILLISECONDS.toNanos(millis);
  }

  synchronized void add(Ends call) {
    for (Waiting first = waiting.peek();
        first != null && first.call.isAnswered();
        first = waiting.peek()) {
      waiting.remove(); // else it would stay in memory until its time is up
    }
    waiting.add(new Waiting(call, time.monotonicNanos() + nanos));
    if (!timed) {
      timed = true;
      timer.runAfter(Math.max(FINEST_NANOS, nanos), this::sweep);
    }
  }

  private void sweep() {
    for (Ends late = nextLate(); late != null; late = nextLate()) {
      late.late(); // without the lock: whoever waits for it goes on here
    }
  }

  /** The next call whose time is up; null when there is none, and then the timer is set. */
  private synchronized @Nullable Ends nextLate() {
    long now = time.monotonicNanos();
    for (Waiting first = waiting.peek(); first != null; first = waiting.peek()) {
      if (!first.call.isAnswered()) {
        if (first.atNanos - now > 0) {
          timer.runAfter(Math.max(FINEST_NANOS, first.atNanos - now), this::sweep);
          return null;
        }
        return waiting.remove().call;
      }
      waiting.remove();
    }
    timed = false;
    return null;
  }
}
