package io.throttlekit.demo.overload;

import io.throttlekit.TimeSource;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Some workers, and a queue without bound before them: first come, first served.
 *
 * <p>They never know that somebody has left: whoever waits is worked on in the end, for nobody.
 * That is what an overload does to an upstream, and why it does not recover soon. A worker that
 * ends late, because the machine was busy, begins its next request when it should have ended: so
 * many workers do what they are said to do in the mean, whatever the machine.
 *
 * <p>Thread-safe.
 */
final class Workers {
  private final LongSupplier serviceNanos;
  private final Alarm alarm;
  private final TimeSource time;
  private final Queue<Job> queue = new ArrayDeque<>();
  private int workers;
  private int busy;
  private long served;

  /** What does something later. */
  @FunctionalInterface
  interface Alarm {
    /**
     * Does it then, on any thread.
     *
     * @param nanos by the monotonic clock; at once when that is over
     */
    void at(long nanos, Runnable what);
  }

  /**
   * @param workers from 0
   * @param serviceNanos draws how long a request takes; called by one thread at a time
   */
  Workers(int workers, LongSupplier serviceNanos, Alarm alarm, TimeSource time) {
    this.workers = workers;
    this.serviceNanos = serviceNanos;
    this.alarm = alarm;
    this.time = time;
  }

  /** A request that waits, or is worked on. */
  static final class Job {
    private volatile @Nullable Runnable answer;

    private Job(Runnable answer) {
      this.answer = answer;
    }

    /** Nobody waits for it any more. It is worked on nevertheless. */
    void leave() {
      answer = null; // which lets go of the connection, too
    }

    private boolean isLeft() {
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
   * Takes a request.
   *
   * @param answer called once, when a worker has done it, unless it was left before
   */
  synchronized Job accept(Runnable answer) {
    Job job = new Job(answer);
    if (busy < workers) {
      begin(job, time.monotonicNanos());
    } else {
      queue.add(job);
    }
    return job;
  }

  /** From now on there are so many; who is busy ends first. */
  synchronized void employ(int count) {
    workers = count;
    long now = time.monotonicNanos();
    while (busy < workers && !queue.isEmpty()) {
      begin(queue.remove(), now);
    }
  }

  /** Drops from the queue what nobody waits for, as a restart would. */
  synchronized void forgetTheLeft() {
    queue.removeIf(Job::isLeft);
  }

  /** How many wait for a worker. */
  synchronized int waiting() {
    return queue.size();
  }

  /** How many have been done, for somebody or nobody. */
  synchronized long served() {
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
