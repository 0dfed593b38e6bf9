package io.throttlekit.service.concurrency;

import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.Ceiling.LeaseTerms;
import io.throttlekit.tier.Timer;
import io.throttlekit.tier.Wakeups;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The leases that live. A lease is in the table until the first of those who may end it takes it
 * out; whoever comes later finds nothing, and ends nothing.
 *
 * <p>Leases of one time to live end in the order in which they began, so each such line is looked
 * at from its head only. Thread-safe; slots are ended, and the listener is told, with no lock held.
 */
public final class Leases {
  private static final long FINEST_NANOS = 10_000_000;

  private final TimeSource time;
  private final Timer timer;
  private final GateListener listener;
  private final int most;
  private final LeaseIds ids;

  // Guarded by this.
  private final Map<String, Lease> byId = new HashMap<>();
  private final Map<Long, LinkedHashMap<String, Lease>> byTtl = new HashMap<>();
  private final Wakeups wakeups = new Wakeups(FINEST_NANOS);

  /**
   * A table of at most {@code most} leases.
   *
   * @param timer follows {@code time}
   */
  Leases(TimeSource time, Timer timer, GateListener listener, int most) {
    this.time = time;
    this.timer = timer;
    this.listener = listener;
    this.most = most;
    this.ids = new LeaseIds(time.wallMillis());
  }

  /** A lease on the slots, which it ends; null, with nothing done, when there are too many. */
  @Nullable Lease open(List<Slot> slots, LeaseTerms terms) {
    long now = time.monotonicNanos();
    Lease lease = new Lease(this, ids.next(), slots, terms, now);
    long inNanos;
    synchronized (this) {
      if (byId.size() >= most) {
        return null;
      }
      byId.put(lease.id(), lease);
      byTtl.computeIfAbsent(lease.ttlNanos(), _ -> new LinkedHashMap<>()).put(lease.id(), lease);
      inNanos = wakeups.begin(lease.endNanos(), now);
    }
    runAfter(inNanos, now);
    listener.leased();
    return lease;
  }

  /**
   * Ends the lease of this name because its request was logged, if it lives and may end so. Any
   * other is left alone, and not counted as stale: a log names leases that have ended otherwise.
   *
   * @param ending what the entry says about the backend
   */
  public void logged(String id, Ending ending) {
    Lease lease;
    synchronized (this) {
      lease = byId.get(id);
      if (lease == null || !lease.endsWhenLogged()) {
        return;
      }
      remove(lease);
    }
    tellEnd(lease, LeaseEnd.ACCESS_LOG, ending);
  }

  /** Whether a lease of this name lives that ends when its request is logged. */
  public synchronized boolean awaitsLog(String id) {
    Lease lease = byId.get(id);
    return lease != null && lease.endsWhenLogged();
  }

  /** Ends the lease of this name, if it lives; counts it as stale if not. */
  public void end(String id, LeaseEnd how) {
    Lease lease;
    synchronized (this) {
      lease = byId.get(id);
      if (lease != null) {
        remove(lease);
      }
    }
    if (lease == null) {
      listener.stale();
    } else {
      tellEnd(lease, how);
    }
  }

  /** How many live. */
  public synchronized int size() {
    return byId.size();
  }

  void end(Lease lease, LeaseEnd how) {
    boolean lived;
    synchronized (this) {
      lived = remove(lease);
    }
    if (lived) {
      tellEnd(lease, how);
    }
  }

  private void tellEnd(Lease lease, LeaseEnd how) {
    boolean answered = how == LeaseEnd.STREAM_DONE;
    tellEnd(lease, how, answered ? Ending.Plain.ANSWERED : Ending.Plain.UNTOLD);
  }

  private void tellEnd(Lease lease, LeaseEnd how, Ending ending) {
    try {
      lease.end(ending);
    } finally {
      listener.ended(how);
    }
  }

  private boolean remove(Lease lease) {
    if (byId.remove(lease.id()) == null) {
      return false;
    }
    LinkedHashMap<String, Lease> line = byTtl.get(lease.ttlNanos());
    if (line != null) {
      line.remove(lease.id());
      if (line.isEmpty()) {
        byTtl.remove(lease.ttlNanos());
      }
    }
    return true;
  }

  /** Ends what is due; run by the timer. */
  private void expire(long ranNanos) {
    List<Lease> due = new ArrayList<>();
    long now = time.monotonicNanos();
    long inNanos;
    synchronized (this) {
      wakeups.ran(ranNanos);
      for (LinkedHashMap<String, Lease> line : byTtl.values()) {
        Iterator<Lease> oldestFirst = line.values().iterator();
        while (oldestFirst.hasNext()) {
          Lease oldest = oldestFirst.next();
          if (!oldest.isDue(now)) {
            break;
          }
          oldestFirst.remove();
          byId.remove(oldest.id());
          due.add(oldest);
        }
      }
      byTtl.values().removeIf(Map::isEmpty);
      inNanos = beginTimer(now);
    }
    runAfter(inNanos, now);
    due.forEach(lease -> tellEnd(lease, LeaseEnd.EXPIRED));
  }

  /** The ns until a timer must run that does not yet; 0 for none. */
  private long beginTimer(long now) {
    long soonest = Long.MAX_VALUE;
    for (LinkedHashMap<String, Lease> line : byTtl.values()) {
      for (Lease oldest : line.values()) {
        soonest = Math.min(soonest, oldest.endNanos() - now);
        break;
      }
    }
    return soonest == Long.MAX_VALUE ? 0 : wakeups.begin(now + soonest, now);
  }

  private void runAfter(long nanos, long nowNanos) {
    if (nanos > 0) {
      timer.runAfter(nanos, () -> expire(nowNanos + nanos));
    }
  }
}
