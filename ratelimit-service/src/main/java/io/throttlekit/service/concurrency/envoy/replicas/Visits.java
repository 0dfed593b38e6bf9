package io.throttlekit.service.concurrency.envoy.replicas;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.steering.SteeringExchange;
import io.throttlekit.steering.SteeringExchange.Answer;
import io.throttlekit.steering.SteeringExchange.Visit;
import io.throttlekit.store.StoreException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The visits of a replica to the exchange, one at a time: each {@value #PERIOD_MILLIS} ms, and at
 * once when there is news; more seldom while they fail. Only for the executor that it is created
 * with, which runs one task at a time.
 */
public final class Visits {
  /** Time between two visits. */
  public static final long PERIOD_MILLIS = 50;

  /** Longest time between two visits, while they fail. */
  private static final long MAX_PERIOD_MILLIS = 1_000;

  /** Time after which the answer of a visit is not awaited any more. */
  public static final long TIMEOUT_NANOS = TimeUnit.SECONDS.toNanos(2);

  private final SteeringExchange exchange;
  private final Executor executor;
  private final Scheduler timer;
  private final TimeSource time;
  private final Visitor visitor;
  private boolean periodic;
  private boolean stopped;
  private boolean inFlight;
  private boolean again;
  private boolean waiting;
  private long sentNanos;
  private int failures;

  /** Counts visits and waits, so that the end of an earlier one is recognized. */
  private long current;

  /** Prepares visits, and receives their answers. */
  public interface Visitor {
    /** Returns the next visit; null if it cannot be made, which is a failure. */
    @Nullable Visit next();

    /** The visit was answered. Returns whether the next one should be made at once. */
    boolean answered(Answer answer);

    /** The visit failed, or was not answered in time; it may have taken effect. */
    void failed(Throwable why);
  }

  /**
   * Creates an instance that makes no visit yet.
   *
   * @param executor runs the visitor, and what calls this; one task at a time
   */
  public Visits(
      SteeringExchange exchange,
      Executor executor,
      Scheduler timer,
      TimeSource time,
      Visitor visitor) {
    this.exchange = exchange;
    this.executor = executor;
    this.timer = timer;
    this.time = time;
    this.visitor = visitor;
  }

  /** Makes a visit in each period, after the next one. */
  public void start() {
    periodic = true;
  }

  /** Makes no visit any more except for news. */
  public void pause() {
    periodic = false;
  }

  /** Makes no visit any more, and ignores the answer of the last one. */
  public void stop() {
    stopped = true;
    current++;
  }

  /** Makes a visit now, or when the one in flight is answered; after failures, when it is due. */
  public void soon() {
    again = true;
    if (!inFlight && (failures == 0 || !waiting)) {
      visit();
    }
  }

  /** Gives up a visit that is not answered. To be called about twice a second. */
  public void tick() {
    if (inFlight && time.monotonicNanos() - sentNanos >= TIMEOUT_NANOS) {
      over(current, null, null);
    }
  }

  private void visit() {
    if (stopped) {
      return;
    }
    again = false;
    waiting = false;
    boolean sent = false;
    try {
      Visit visit = visitor.next();
      if (visit != null) {
        inFlight = true;
        sentNanos = time.monotonicNanos();
        long number = ++current;
        exchange
            .visit(visit)
            .whenComplete((answer, why) -> executor.execute(() -> over(number, answer, why)));
        sent = true;
      }
    } catch (RuntimeException e) { // a bug, or a report that no store can keep
      visitor.failed(e);
      throw e;
    } finally {
      if (!sent) { // also on errors
        inFlight = false;
        failures++; // else an error would be repeated, and logged, in each period
        later();
      }
    }
  }

  private void over(long number, @Nullable Answer answer, @Nullable Throwable why) {
    if (number != current || !inFlight) {
      return; // an answer that came too late
    }
    inFlight = false;
    // After a process was suspended, an old answer may be read before tick() gives it up.
    boolean late = time.monotonicNanos() - sentNanos >= TIMEOUT_NANOS;
    @Nullable Answer inTime = late ? null : answer;
    failures = inTime == null ? failures + 1 : 0;
    try {
      if (inTime != null) {
        again |= visitor.answered(inTime);
      } else {
        visitor.failed(why == null ? StoreException.late("the exchange did not answer") : why);
      }
    } finally {
      if (again && failures == 0) {
        visit();
      } else {
        later();
      }
    }
  }

  private void later() {
    if (!periodic || inFlight) {
      return;
    }
    waiting = true;
    long number = ++current;
    long millis =
        Math.min(MAX_PERIOD_MILLIS, PERIOD_MILLIS << Math.min(failures, Integer.SIZE / 2));
    timer.runAfter(
        TimeUnit.MILLISECONDS.toNanos(millis),
        () ->
            executor.execute(() -> {
              if (number == current && !inFlight) { // no visit since
                visit();
              }
            }));
  }
}
