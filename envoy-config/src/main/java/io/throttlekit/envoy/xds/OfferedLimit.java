package io.throttlekit.envoy.xds;

import io.throttlekit.steering.LimitShares;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One limit, and the value its listener was last notified of. For one thread at a time. */
final class OfferedLimit {
  private static final Logger LOG = LoggerFactory.getLogger(LimitDivision.class);

  final LimitShares shares;
  private long acknowledged;
  private long changedNanos;
  private long notified;

  OfferedLimit(LimitShares shares) {
    this.shares = shares;
  }

  /** Records a change of the acknowledged value. */
  void look(long nowNanos) {
    if (shares.acknowledged() != acknowledged) {
      acknowledged = shares.acknowledged();
      changedNanos = nowNanos;
    }
  }

  /** Notifies the listener of the last change; an error of the listener is only logged. */
  void notify(ClusterLimit limit, LimitServerListener listener) {
    if (acknowledged == notified) {
      return;
    }
    notified = acknowledged;
    try {
      listener.acknowledged(limit, (int) Math.min(acknowledged, Integer.MAX_VALUE), changedNanos);
    } catch (Throwable e) { // must not stop the distribution
      LOG.error("the listener failed for {}", limit, e);
    }
  }
}
