package io.throttlekit.service.loop;

import io.netty.channel.EventLoopGroup;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.Future;
import io.throttlekit.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Finds event loops that run no tasks, for example because a task never returns. Costs nothing
 * between two checks. Thread-safe.
 *
 * <p>Each loop has at most one task of a check at a time, so that checks of a hung loop do not fill
 * its queue.
 */
public final class LoopLiveness {
  private final TimeSource time;
  private final List<Checked> loops = new ArrayList<>();

  /** A loop, and the task of its last check. */
  private static final class Checked {
    private final EventExecutor loop;
    private @Nullable Future<?> task;

    Checked(EventExecutor loop) {
      this.loop = loop;
    }

    /** Returns the task that the loop has to run; null if it ends. */
    @Nullable Future<?> task() {
      if (task == null || task.isDone()) {
        try {
          task = loop.submit(() -> {});
        } catch (RejectedExecutionException ends) {
          return null;
        }
      }
      return task;
    }
  }

  /** Creates a check of no loops. */
  public LoopLiveness(TimeSource time) {
    this.time = time;
  }

  /** Includes event loops until they are shut down. */
  public synchronized void add(EventLoopGroup group) {
    loops.removeIf(each -> each.loop.isShuttingDown());
    group.forEach(loop -> loops.add(new Checked(loop)));
  }

  /**
   * Returns how many event loops do not run a task that is submitted now, or was by an earlier
   * check.
   *
   * @param within time for all of them together
   */
  public int hung(Duration within) throws InterruptedException {
    long end = time.monotonicNanos() + within.toNanos();
    int hung = 0;
    for (Future<?> task : tasks()) {
      long left = Math.max(0, end - time.monotonicNanos());
      if (!task.await(left, TimeUnit.NANOSECONDS)) {
        hung++;
      }
    }
    return hung;
  }

  private synchronized List<Future<?>> tasks() {
    List<Future<?>> tasks = new ArrayList<>(loops.size());
    for (Checked each : loops) {
      Future<?> task = each.loop.isShuttingDown() ? null : each.task();
      if (task != null) {
        tasks.add(task);
      }
    }
    return tasks;
  }
}
