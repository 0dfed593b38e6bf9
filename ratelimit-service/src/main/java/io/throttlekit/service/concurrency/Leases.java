package io.throttlekit.service.concurrency;

import io.throttlekit.TimeSource;
import io.throttlekit.descriptors.policy.ConcurrencyRule.LeaseTerms;
import io.throttlekit.tier.Timer;
import io.throttlekit.tier.Wakeups;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SequencedCollection;
import org.jspecify.annotations.Nullable;

/**
 * The open leases. A lease stays in the table until the first event that may end it removes it;
 * later events find no lease and end nothing.
 *
 * <p>Leases with one TTL expire in the order in which they were created, so only the head of each
 * such queue is checked. Thread-safe; slots are ended and the listener is notified without a lock.
 */
public final class Leases {
  // 10 ms: leases that expire close together share one timer
  private static final long RESOLUTION_NANOS = 10_000_000;

  private final TimeSource time;
  private final Timer timer;
  private final ConcurrencyListener listener;
  private final int maxLeases;
  private final LeaseIds ids;

  // Guarded by this.
  private final Map<String, Lease> byId = new HashMap<>();
  private final Map<Long, LinkedHashMap<String, Lease>> byTtl = new HashMap<>();
  private final Wakeups wakeups = new Wakeups(RESOLUTION_NANOS);

  /**
   * Creates a table of at most {@code maxLeases} leases.
   *
   * @param timer follows {@code time}
   */
  Leases(TimeSource time, Timer timer, ConcurrencyListener listener, int maxLeases) {
    this.time = time;
    this.timer = timer;
    this.listener = listener;
    this.maxLeases = maxLeases;
    this.ids = new LeaseIds(time.wallMillis());
  }

  /** Creates a lease that owns the slots; returns null without any effect if there are too many. */
  @Nullable Lease open(List<Slot> slots, LeaseTerms terms) {
    long now = time.monotonicNanos();
    Lease lease = new Lease(this, ids.next(), slots, terms, now);
    long inNanos;
    synchronized (this) {
      if (byId.size() >= maxLeases) {
        return null;
      }
      byId.put(lease.id(), lease);
      byTtl.computeIfAbsent(lease.ttlNanos, _ -> new LinkedHashMap<>()).put(lease.id(), lease);
      inNanos = wakeups.begin(lease.endNanos, now);
    }
    runAfter(inNanos, now);
    listener.leased();
    return lease;
  }

  /**
   * Ends the lease with this id because its request was logged, if it is open and ends that way.
   * Any other is left alone and not counted as stale: an access log also names leases that other
   * events ended.
   *
   * @param ending the evidence of the entry about the backend
   */
  public void logged(String id, Ending ending) {
    Lease lease;
    synchronized (this) {
      lease = byId.get(id);
      if (lease == null || !lease.endsWhenLogged) {
        return;
      }
      remove(lease);
    }
    recordEnd(lease, LeaseEnd.ACCESS_LOG, ending);
  }

  /** Returns whether a lease with this id is open and ends when its request is logged. */
  public synchronized boolean awaitsLog(String id) {
    Lease lease = byId.get(id);
    return lease != null && lease.endsWhenLogged;
  }

  /** Ends the lease with this id; counts it as stale if none is open. */
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
      recordEnd(lease, how);
    }
  }

  /** Returns the number of open leases. */
  public synchronized int size() {
    return byId.size();
  }

  void end(Lease lease, LeaseEnd how) {
    boolean lived;
    synchronized (this) {
      lived = remove(lease);
    }
    if (lived) {
      recordEnd(lease, how);
    }
  }

  private void recordEnd(Lease lease, LeaseEnd how) {
    // only then did the request reach the backend and end
    boolean answered = how == LeaseEnd.STREAM_DONE;
    recordEnd(lease, how, answered ? Ending.Plain.ANSWERED : Ending.Plain.UNKNOWN);
  }

  private void recordEnd(Lease lease, LeaseEnd how, Ending ending) {
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
    LinkedHashMap<String, Lease> line = byTtl.get(lease.ttlNanos);
    if (line != null) {
      line.remove(lease.id());
      if (line.isEmpty()) {
        byTtl.remove(lease.ttlNanos);
      }
    }
    return true;
  }

  /** Ends leases that are due; run by the timer. */
  private void expire(long ranNanos) {
    List<Lease> due = new ArrayList<>();
    long now = time.monotonicNanos();
    long inNanos;
    synchronized (this) {
      wakeups.ran(ranNanos);
      for (LinkedHashMap<String, Lease> line : byTtl.values()) {
        // all of a line have the same TTL, so the oldest one ends first
        SequencedCollection<Lease> oldestFirst = line.sequencedValues();
        while (!oldestFirst.isEmpty() && oldestFirst.getFirst().isDue(now)) {
          Lease oldest = oldestFirst.removeFirst();
          byId.remove(oldest.id());
          due.add(oldest);
        }
      }
      byTtl.values().removeIf(Map::isEmpty);
      inNanos = beginTimer(now);
    }
    runAfter(inNanos, now);
    due.forEach(lease -> recordEnd(lease, LeaseEnd.EXPIRED));
  }

  /** Returns the ns until another timer must run, or 0 if none is needed. */
  private long beginTimer(long now) {
    long soonest = Long.MAX_VALUE;
    for (LinkedHashMap<String, Lease> line : byTtl.values()) {
      soonest = Math.min(soonest, line.sequencedValues().getFirst().endNanos - now);
    }
    return soonest == Long.MAX_VALUE ? 0 : wakeups.begin(now + soonest, now);
  }

  private void runAfter(long nanos, long nowNanos) {
    if (nanos > 0) {
      timer.runAfter(nanos, () -> expire(nowNanos + nanos));
    }
  }
}
