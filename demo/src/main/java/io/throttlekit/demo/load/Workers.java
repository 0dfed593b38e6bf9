package io.throttlekit.demo.load;

import io.throttlekit.TimeSource;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Workers with an unbounded FIFO queue.
 *
 * <p>They do not notice when clients leave, and serve their requests in the end. That is the effect
 * of overload on an upstream, and the reason why it recovers slowly. A worker that ends late
 * because the machine was busy starts its next request at the time when it should have ended, so
 * the mean throughput does not depend on the machine.
 *
 * <p>Thread-safe.
 */
public final class Workers {
  private final LongSupplier serviceNanos;
  private final Alarm alarm;
  private final TimeSource time;
  private final Queue<Job> queue = new ArrayDeque<>();
  private int workers;
  private int busy;
  private long served;

  /** Schedules tasks. */
  @FunctionalInterface
  public interface Alarm {
    /**
     * Runs a task at the given time, on any thread.
     *
     * @param nanos monotonic time; runs at once if it has passed
     */
    void at(long nanos, Runnable what);
  }

  /**
   * @param workers from 0
   * @param serviceNanos draws a service time; called by one thread at a time
   */
  public Workers(int workers, LongSupplier serviceNanos, Alarm alarm, TimeSource time) {
    this.workers = workers;
    this.serviceNanos = serviceNanos;
    this.alarm = alarm;
    this.time = time;
  }

  /** A request that waits or is served. */
  public static final class Job {
    private volatile @Nullable Runnable answer;

    private Job(Runnable answer) {
      this.answer = answer;
    }

    /** Marks that the client has left. The request is served nevertheless. */
    void leave() {
      answer = null; // also releases the connection
    }

    private boolean isAbandoned() {
      return answer == null;
    }

    private void answer() {
      Runnable waiting = answer;
      if (waiting != null) {
        waiting.run();
      }
    }
  }

  /**
   * Adds a request.
   *
   * @param answer called once, when a worker has served it, unless the client has left before
   */
  public synchronized Job accept(Runnable answer) {
    Job job = new Job(answer);
    if (busy < workers) {
      begin(job, time.monotonicNanos());
    } else {
      queue.add(job);
    }
    return job;
  }

  /** Changes the number of workers; busy ones finish their requests first. */
  public synchronized void employ(int count) {
    workers = count;
    long now = time.monotonicNanos();
    while (busy < workers && !queue.isEmpty()) {
      begin(queue.remove(), now);
    }
  }

  /** Removes requests from the queue whose client has left, as a restart would. */
  public synchronized void removeAbandoned() {
    queue.removeIf(Job::isAbandoned);
  }

  /** Returns the number of waiting requests. */
  public synchronized int waiting() {
    return queue.size();
  }

  /** Returns the number of requests that were served, including those whose client had left. */
  public synchronized long served() {
    return served;
  }

  private void begin(Job job, long startNanos) {
    busy++;
    long end = startNanos + serviceNanos.getAsLong();
    alarm.at(end, () -> end(job, end));
  }

  private void end(Job job, long endNanos) {
    synchronized (this) {
      busy--;
      served++;
      if (busy < workers && !queue.isEmpty()) {
        begin(queue.remove(), endNanos);
      }
    }
    job.answer();
  }
}
