package io.throttlekit.share;

import io.throttlekit.Scheduler;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Requests that wait until their node has joined its fleet, each for a time. Thread-safe. */
final class JoinQueue {
  /** The most requests that wait: a coordinator that hangs must not collect more. */
  static final int MAX_WAITING = 10_000;

  private final Scheduler timer;

  // Guarded by this.
  private final Map<Long, Runnable> waiting = new LinkedHashMap<>();
  private long ids;

  JoinQueue(Scheduler timer) {
    this.timer = timer;
  }

  /**
   * Adds a request, which continues with the next {@link #runAll}, after {@code waitNanos} at the
   * latest; at once if too many wait.
   */
  void add(long waitNanos, Runnable task) {
    long id;
    synchronized (this) {
      if (waiting.size() < MAX_WAITING) {
        id = ++ids;
        waiting.put(id, task);
      } else {
        id = 0;
      }
    }
    if (id == 0) {
      task.run();
    } else {
      timer.runAfter(waitNanos, () -> run(remove(id)));
    }
  }

  /** Lets all requests continue, in the order of their arrival. */
  void runAll() {
    List<Runnable> all;
    synchronized (this) {
      if (waiting.isEmpty()) {
        return;
      }
      all = new ArrayList<>(waiting.values());
      waiting.clear();
    }
    all.forEach(JoinQueue::run);
  }

  private synchronized @Nullable Runnable remove(long id) {
    return waiting.remove(id);
  }

  private static void run(@Nullable Runnable task) {
    if (task == null) {
      return; // it has continued already
    }
    try {
      task.run();
    } catch (RuntimeException bug) { // the other requests must continue
      Thread thread = Thread.currentThread();
      thread.getUncaughtExceptionHandler().uncaughtException(thread, bug);
    }
  }
}
