package io.throttlekit.federation;

import io.throttlekit.TimeSource;
import java.util.concurrent.TimeUnit;

/**
 * Tracks whether a coordinator answers, and when it is to be probed if it does not. Thread-safe.
 */
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
   * Records that a call was not answered.
   *
   * @param sentNanos when it was sent; ignored if another call was answered since
   */
  void failed(long sentNanos) {
    if (answers && sentNanos - answeredNanos >= 0) {
      set(false);
    }
  }

  /** Returns whether the caller is to send a probe now: true once per interval. */
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
