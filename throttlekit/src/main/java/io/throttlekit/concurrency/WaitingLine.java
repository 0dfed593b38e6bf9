package io.throttlekit.concurrency;

import java.util.LinkedHashSet;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Those who wait for a permit, first come, first served, and when the waiting of each ends. What
 * leaves the line leaves it altogether: nothing is kept of it until some later time. For one thread
 * at a time.
 */
final class WaitingLine {
  private static final long FINEST_NANOS = 1_000_000;

  private final LinkedHashSet<Waiter> waiters = new LinkedHashSet<>();
  private final TreeSet<Waiter> impatient = new TreeSet<>(Waiter::compareEnds);
  private long joined;

  /** Whether a timer runs, and when the one that ends first does. */
  private boolean timed;

  private long timedNanos;

  void add(Waiter waiter) {
    waiter.joined(joined++);
    waiters.add(waiter);
    if (!waiter.isPatient()) {
      impatient.add(waiter);
    }
  }

  /** Takes {@code waiter} out; whether it was there. */
  boolean remove(Waiter waiter) {
    if (!waiters.remove(waiter)) {
      return false;
    }
    forget(waiter);
    return true;
  }

  /** Takes out who has waited longest; null when nobody waits. */
  @Nullable Waiter pollFirst() {
    if (waiters.isEmpty()) {
      return null;
    }
    Waiter first = waiters.removeFirst();
    forget(first);
    return first;
  }

  /** Takes out one of those who have waited as long as they may; null when nobody has. */
  @Nullable Waiter pollDue(long nowNanos) {
    if (impatient.isEmpty() || impatient.first().endNanos() - nowNanos > 0) {
      return null;
    }
    Waiter due = impatient.removeFirst();
    waiters.remove(due);
    return due;
  }

  /** Takes out all. */
  List<Waiter> removeAll() {
    List<Waiter> all = List.copyOf(waiters);
    waiters.clear();
    impatient.clear();
    return all;
  }

  /**
   * In how many ns a timer must run that does not yet, from a millisecond: a timer for each waiter
   * would wake a thread for each. 0 when none is needed.
   */
  long beginTimer(long nowNanos) {
    if (impatient.isEmpty()) {
      return 0;
    }
    long nanos = Math.max(FINEST_NANOS, impatient.first().endNanos() - nowNanos);
    if (timed && timedNanos - (nowNanos + nanos) <= 0) {
      return 0;
    }
    timed = true;
    timedNanos = nowNanos + nanos;
    return nanos;
  }

  /** The timer that was to run at {@code dueNanos} has. */
  void timerRan(long dueNanos) {
    timed &= dueNanos != timedNanos;
  }

  private void forget(Waiter waiter) {
    if (!waiter.isPatient()) {
      impatient.remove(waiter);
    }
  }
}
