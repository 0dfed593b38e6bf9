package io.throttlekit.envoy.xds;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Log lines that clients cause. They are kept until {@link #write}, so that no event loop blocks on
 * the log, and bounded in number, so that no client can fill the log. Thread-safe.
 */
final class Notices {
  private static final Logger LOG = LoggerFactory.getLogger(LimitServer.class);

  /**
   * Lines kept between two writes, of which there are two a second. A fleet of hundreds of Envoys
   * that connects at once is not listed in full.
   */
  static final int MAX_PENDING = 20;

  private List<Runnable> pending = new ArrayList<>();
  private long dropped;

  /** Keeps a line, or counts it when too many are kept. */
  synchronized void add(Runnable line) {
    if (pending.size() < MAX_PENDING) {
      pending.add(line);
    } else {
      dropped++;
    }
  }

  /** Writes the kept lines, on the calling thread. */
  void write() {
    List<Runnable> lines;
    long more;
    synchronized (this) {
      lines = pending;
      more = dropped;
      if (lines.isEmpty()) {
        return;
      }
      pending = new ArrayList<>();
      dropped = 0;
    }
    lines.forEach(Runnable::run);
    if (more > 0) {
      LOG.warn("{} more lines about Envoys are left out", more);
    }
  }
}
