package io.throttlekit.envoy.ads;

import java.util.concurrent.TimeUnit;

/**
 * Decides when a rejection may be sent, so that no control plane can be driven into a loop. Some
 * send a rejected configuration again as soon as its rejection arrives.
 *
 * <p>A rejection is sent at once if the last one was sent long ago. Otherwise the control plane is
 * likely to have reacted to that one, and each pause is twice as long as the one before it. Not
 * thread-safe.
 */
final class RejectionPauses {
  /** First pause, and the time after which a rejected response is none to the last rejection. */
  static final long FIRST_NANOS = TimeUnit.SECONDS.toNanos(1);

  /** Bounds by how much a correction is delayed: it may be sent only after the answer. */
  static final long MAX_NANOS = TimeUnit.SECONDS.toNanos(15);

  private boolean hasSent;
  private long sentNanos;
  private long pauseNanos;
  private long dueNanos;

  /** Returns in how many ns from now the response may be rejected, from 0. */
  long next(long nowNanos) {
    if (!hasSent) {
      return 0;
    }
    if (dueNanos - nowNanos > 0) { // a rejection waits already: what replaces it is not later
      return dueNanos - nowNanos;
    }
    if (nowNanos - sentNanos > Math.max(FIRST_NANOS, pauseNanos)) {
      pauseNanos = 0;
    } else {
      pauseNanos = Math.clamp(2 * pauseNanos, FIRST_NANOS, MAX_NANOS);
    }
    dueNanos = nowNanos + pauseNanos;
    return pauseNanos;
  }

  void sent(long nowNanos) {
    hasSent = true;
    sentNanos = nowNanos;
    dueNanos = nowNanos;
  }
}
