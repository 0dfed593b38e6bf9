package io.throttlekit.envoy.ceiling;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Log lines that clients cause. They are kept until {@link #write}, so that no event loop waits for
 * the log, and only the first of them, so that no client can fill it. Thread-safe.
 */
final class Notices {
  private static final Logger LOG = LoggerFactory.getLogger(CeilingServer.class);

  /** Written twice a second: a fleet of hundreds that connects at once is not listed in full. */
  static final int MAX_PENDING = 20;

  private List<Runnable> pending = new ArrayList<>();
  private long dropped;

  /** Keeps a line, or counts it where too many are kept. */
  synchronized void add(Runnable line) {
    if (pending.size() < MAX_PENDING) {
      pending.add(line);
    } else {
      dropped++;
    }
  }

  /** Writes what is kept, on the calling thread. */
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
