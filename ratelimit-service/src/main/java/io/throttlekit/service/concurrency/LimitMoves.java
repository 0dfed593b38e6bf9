package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.Rule;

/** Notifies a listener of the changes of one concurrency limit. Thread-safe. */
public final class LimitMoves {
  /** A move is reported from more than one in so many, a fifth: algorithms adjust by less. */
  private static final int REPORTED_ONE_IN = 5;

  private final ConcurrencyListener listener;

  /**
   * The limit when a move was last reported. No lock guards it: of two concurrent changes both may
   * be reported.
   */
  private volatile int reported;

  /**
   * Creates an instance for a limit without changes.
   *
   * @param limit its initial value
   */
  public LimitMoves(ConcurrencyListener listener, int limit) {
    this.listener = listener;
    this.reported = limit;
  }

  /** Notifies the listener if the limit changed. To be called without a lock. */
  public void update(Rule rule, int before, int now) {
    if (before == now) {
      return;
    }
    listener.limitChanged(rule, before, now);
    int from = reported;
    boolean far = Math.abs((long) now - from) * REPORTED_ONE_IN > from;
    if (far && listener.limitMoved(rule, from, now)) {
      reported = now;
    }
  }
}
