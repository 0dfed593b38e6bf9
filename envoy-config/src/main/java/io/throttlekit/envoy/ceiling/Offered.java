package io.throttlekit.envoy.ceiling;

import io.throttlekit.concurrency.CeilingShares;

/** One ceiling, and what its listener was notified of. For one thread at a time. */
final class Offered {
  final CeilingShares shares;
  private long obeyed;
  private long changedNanos;
  private long told;

  Offered(CeilingShares shares) {
    this.shares = shares;
  }

  /** Notes when what is obeyed has changed. */
  void look(long nowNanos) {
    if (shares.obeyed() != obeyed) {
      obeyed = shares.obeyed();
      changedNanos = nowNanos;
    }
  }

  /** Notifies the listener of the last change. */
  void tell(Ceiling ceiling, CeilingListener listener) {
    if (obeyed != told) {
      told = obeyed;
      listener.obeyed(ceiling, (int) Math.min(obeyed, Integer.MAX_VALUE), changedNanos);
    }
  }
}
