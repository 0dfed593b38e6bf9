package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.Rule;

/** Notifies a listener of the changes of one concurrency limit. Thread-safe. */
public final class LimitMoves {
  /** A move is reported from more than one in so many, a fifth: algorithms adjust by less. */
  private static final int REPORTED_ONE_IN = 5;

  private final ConcurrencyListener listener;

  /** The limit when a move was last reported. Guarded by this. */
  private long reported;

  /**
   * Creates an instance for a limit without changes.
   *
   * @param limit its initial value
   */
  public LimitMoves(ConcurrencyListener listener, int limit) {
    this.listener = listener;
    this.reported = limit;
  }

  /** Notifies the listener that the limit changed. */
  public void changed(Rule rule, int before, int now) {
    listener.limitChanged(rule, before, now);
    synchronized (this) {
      boolean far = Math.abs(now - reported) * REPORTED_ONE_IN > reported;
      if (far && listener.limitMoved(rule, (int) reported, now)) {
        reported = now;
      }
    }
  }
}
