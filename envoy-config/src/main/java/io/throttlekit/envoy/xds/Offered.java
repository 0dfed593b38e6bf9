package io.throttlekit.envoy.xds;

import io.throttlekit.concurrency.LimitShares;

/** One limit, and the value its listener was last notified of. For one thread at a time. */
final class Offered {
  final LimitShares shares;
  private long obeyed;
  private long changedNanos;
  private long notified;

  Offered(LimitShares shares) {
    this.shares = shares;
  }

  /** Records a change of the acknowledged value. */
  void look(long nowNanos) {
    if (shares.acknowledged() != obeyed) {
      obeyed = shares.acknowledged();
      changedNanos = nowNanos;
    }
  }

  /** Notifies the listener of the last change. */
  void notify(ClusterLimit limit, LimitServerListener listener) {
    if (obeyed != notified) {
      notified = obeyed;
      listener.obeyed(limit, (int) Math.min(obeyed, Integer.MAX_VALUE), changedNanos);
    }
  }
}
