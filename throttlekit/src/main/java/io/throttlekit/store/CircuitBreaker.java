package io.throttlekit.store;

import io.throttlekit.TimeSource;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Spares callers the wait for a store that does not answer.
 *
 * <pre>
 *             failed, so many times in a row
 *             unanswered for so long             allows, once in each interval: a probe
 *   Closed ───────────────────────────────► Open ──┐
 *     ▲                                     │ ▲    │
 *     └──────────── answered ───────────────┘ └────┘
 * </pre>
 *
 * <p>Closed, every call passes. Open, calls are to fail at once, except one probe in each interval.
 * Any answer closes it, whether its caller still waits for it or not, so recovery needs no restart.
 * A failure is one that the store or the network reported: a refused or closed connection, an
 * error. Silence is not counted but timed: a stall, however many callers it keeps waiting, opens
 * the breaker only once a call has had no answer, and no other call has had one either, for the
 * time that the settings name.
 *
 * <p>Thread-safe. Never blocks and takes no lock; an answer while it is closed writes one field.
 */
public final class CircuitBreaker {
  private static final State CLOSED = new State.Closed(0);

  private final TimeSource time;
  private final Settings settings;
  private final AtomicReference<State> state = new AtomicReference<>(CLOSED);
  private volatile long answeredNanos;

  /**
   * When a breaker opens, and how often it probes then.
   *
   * @param failuresToOpen failures in a row that open it, from 1
   * @param silenceMillis how long a call may be without an answer, while no other gets one, before
   *     it opens, in ms, from 1
   * @param probeEveryMillis how long it waits from opening to the first probe, and from each probe
   *     to the next, in ms, from 1
   */
  public record Settings(int failuresToOpen, long silenceMillis, long probeEveryMillis) {
    /** Opens after 5 failures or 1 s of silence, and probes every 25 ms. */
    public static final Settings DEFAULT = new Settings(5, 1_000, 25);

    /** Checks the ranges. */
    public Settings {
      if (failuresToOpen < 1 || silenceMillis < 1 || probeEveryMillis < 1) {
        throw new IllegalArgumentException(
            ("failuresToOpen, silenceMillis and probeEveryMillis must be at least 1,"
                    + " were %d, %d and %d")
                .formatted(failuresToOpen, silenceMillis, probeEveryMillis));
      }
    }
  }

  private sealed interface State {

    /** Every call passes; so many failures came since the last answer. */
    record Closed(int failures) implements State {}

    /** Calls fail at once; from {@code probeNanos} on, one passes. */
    record Open(long probeNanos) implements State {}
  }

  /** Creates a closed breaker. */
  public CircuitBreaker(TimeSource time, Settings settings) {
    this.time = time;
    this.settings = settings;
    this.answeredNanos = time.monotonicNanos();
  }

  /** Returns whether a call may pass now; while open, true for one caller in each interval. */
  public boolean allows() {
    State now = state.get();
    return !(now instanceof State.Open open) || isProbe(open);
  }

  /** Returns whether calls other than probes are to fail at once. */
  public boolean isOpen() {
    return state.get() instanceof State.Open;
  }

  /** Records an answer; returns whether it closed the breaker. */
  public boolean succeeded() {
    answeredNanos = time.monotonicNanos();
    State before = state.get();
    // While closed without failures, the state is only read.
    return !before.equals(CLOSED) && state.getAndSet(CLOSED) instanceof State.Open;
  }

  /** Records a failure that the store or the network reported; returns whether it opened. */
  public boolean failed() {
    State before;
    State after;
    do {
      before = state.get();
      if (!(before instanceof State.Closed closed)) {
        return false;
      }
      int failures = closed.failures() + 1;
      after = failures < settings.failuresToOpen() ? new State.Closed(failures) : opened();
    } while (!state.compareAndSet(before, after));
    return after instanceof State.Open;
  }

  /**
   * Records that a call is still without an answer; returns whether that opened the breaker. May be
   * called any number of times for one call: only the length of the silence counts.
   *
   * @param sinceNanos when the call was sent, by the monotonic clock
   */
  public boolean unanswered(long sinceNanos) {
    State before = state.get();
    if (before instanceof State.Open) {
      return false;
    }
    long now = time.monotonicNanos();
    long silence = Math.min(now - sinceNanos, now - answeredNanos); // any answer ends a silence
    return silence >= TimeUnit.MILLISECONDS.toNanos(settings.silenceMillis())
        && state.compareAndSet(before, opened()); // else another thread has just changed it
  }

  private State.Open opened() {
    return new State.Open(time.monotonicNanos() + probeEveryNanos());
  }

  /** Returns whether the caller, and no other, is to probe now. */
  private boolean isProbe(State.Open open) {
    long now = time.monotonicNanos();
    return now - open.probeNanos() >= 0
        && state.compareAndSet(open, new State.Open(now + probeEveryNanos()));
  }

  private long probeEveryNanos() {
    return TimeUnit.MILLISECONDS.toNanos(settings.probeEveryMillis());
  }
}
