package io.throttlekit.federation;

import io.throttlekit.TimeSource;
import java.util.concurrent.TimeUnit;

/** Whether a coordinator answered last, and when it is to be probed if not. Thread-safe. */
final class CoordinatorHealth {
  private final TimeSource time;
  private final long probeEveryNanos;
  private final FederationListener listener;
  private volatile boolean answers = true;
  private volatile long answeredNanos;
  private long nextProbeNanos;

  CoordinatorHealth(TimeSource time, long probeEveryMillis, FederationListener listener) {
    this.time = time;
    this.probeEveryNanos = TimeUnit.MILLISECONDS.toNanos(probeEveryMillis);
    this.listener = listener;
    this.answeredNanos = time.monotonicNanos();
  }

  boolean answers() {
    return answers;
  }

  void succeeded() {
    answeredNanos = time.monotonicNanos();
    if (!answers) {
      set(true);
    }
  }

  /**
   * A call was not answered.
   *
   * @param askedNanos when it was asked; it says nothing if another was answered since
   */
  void failed(long askedNanos) {
    if (answers && askedNanos - answeredNanos >= 0) {
      set(false);
    }
  }

  /** Whether somebody should ask now if it answers again: true once in each interval. */
  synchronized boolean isProbeDue() {
    long now = time.monotonicNanos();
    if (answers || now - nextProbeNanos < 0) {
      return false;
    }
    nextProbeNanos = now + probeEveryNanos;
    return true;
  }

  private synchronized void set(boolean now) {
    if (answers == now) {
      return;
    }
    answers = now;
    nextProbeNanos = time.monotonicNanos() + probeEveryNanos;
    listener.coordinatorAnswers(now);
  }
}
