package io.throttlekit.concurrency;

import io.throttlekit.tier.Wakeups;
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

  private final TreeSet<Waiter> waiters = new TreeSet<>(Waiter::compareOrders);
  private final TreeSet<Waiter> impatient = new TreeSet<>(Waiter::compareEnds);
  private final Wakeups wakeups = new Wakeups(FINEST_NANOS);
  private long joined;

  void add(Waiter waiter) {
    waiter.joined(joined++);
    waiters.add(waiter);
    if (!waiter.isPatient()) {
      impatient.add(waiter);
    }
  }

  /** Takes {@code waiter}, which joined this line, out; whether it was still there. */
  boolean remove(Waiter waiter) {
    if (!waiters.remove(waiter)) {
      return false;
    }
    forget(waiter);
    return true;
  }

  /** Takes out who has waited longest; null when nobody waits. */
  @Nullable Waiter pollFirst() {
    Waiter first = waiters.pollFirst();
    if (first != null) {
      forget(first);
    }
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

  /** In how many ns a timer must run that does not yet; 0 when none is needed. */
  long beginTimer(long nowNanos) {
    return impatient.isEmpty() ? 0 : wakeups.begin(impatient.first().endNanos(), nowNanos);
  }

  /** The timer that was to run at {@code dueNanos} has. */
  void timerRan(long dueNanos) {
    wakeups.ran(dueNanos);
  }

  private void forget(Waiter waiter) {
    if (!waiter.isPatient()) {
      impatient.remove(waiter);
    }
  }
}
