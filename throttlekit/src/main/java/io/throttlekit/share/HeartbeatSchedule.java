package io.throttlekit.share;

import io.throttlekit.Scheduler;
import io.throttlekit.TimeSource;
import io.throttlekit.Wakeups;

/**
 * When a node sends its heartbeats: at intervals, earlier when they are called for, and not at all
 * while it is dormant. Thread-safe.
 */
final class HeartbeatSchedule {
  private static final long RESOLUTION_NANOS = 1_000_000;

  /** Heartbeats in a row after a shift of the load. */
  private static final int SEVERAL = 5;

  /**
   * Heartbeat intervals from one such row to the next: a load that shifts all the time must not
   * keep the coordinator busy.
   */
  private static final int INTERVALS = 5;

  /** The least time between two heartbeats of one limit while they are frequent. */
  private static final long NANOS_PER_NODE = 3_000_000;

  private final Membership membership;
  private final TimeSource time;
  private final Wakeups wakeups;

  /** When the last heartbeat was sent, and the next one is due; written under the lock of this. */
  private volatile long beatNanos;

  private volatile long dueNanos;

  /** The time between two heartbeats while they are frequent, for the fleet's size; ns. */
  private volatile long frequentNanos;

  /** Heartbeats that follow at that interval, and when their row began; guarded by this. */
  private int more;

  private long rowNanos;

  private volatile boolean dormant;
  private volatile boolean closed;

  /**
   * Creates a schedule that begins with {@link #start}.
   *
   * @param wake called when a heartbeat is due
   */
  HeartbeatSchedule(Membership membership, TimeSource time, Scheduler timer, Runnable wake) {
    this.membership = membership;
    this.time = time;
    this.wakeups = new Wakeups(timer, RESOLUTION_NANOS, wake);
    this.dueNanos = time.monotonicNanos();
    this.beatNanos = dueNanos - membership.heartbeatNanos();
    this.rowNanos = dueNanos - INTERVALS * membership.heartbeatNanos();
    this.frequentNanos = membership.minHeartbeatNanos();
  }

  void start() {
    wakeups.by(dueNanos, time.monotonicNanos());
  }

  /** Sends a heartbeat as soon as the least interval allows; none while dormant. */
  void soon() {
    within(membership.minHeartbeatNanos());
  }

  /**
   * Sends several frequent heartbeats, so that this node takes part when the steering node notices,
   * by the first ones of all nodes, what this node has noticed. None soon after the last ones.
   */
  void severalSoon() {
    long now = time.monotonicNanos();
    synchronized (this) {
      if (now - rowNanos < INTERVALS * membership.heartbeatNanos()) {
        return;
      }
      rowNanos = now;
      more = SEVERAL;
    }
    within(frequentNanos);
  }

  /**
   * Sends the next heartbeat as soon as the least interval allows if there is something to report,
   * or if the steering node calls for frequent ones. Those come later in a large fleet: else the
   * coordinator would be busy with one limit.
   */
  void answered(ShareGrant grant, boolean reports) {
    long nanos = Math.max(membership.minHeartbeatNanos(), grant.nodes() * NANOS_PER_NODE);
    frequentNanos = Math.min(nanos, membership.heartbeatNanos());
    if (reports) {
      soon();
    } else if (grant.frequent()) {
      within(frequentNanos);
    }
  }

  private void within(long nanos) {
    if (isDueWithin(nanos)) { // without the lock: called for each refused request
      return;
    }
    long soonest;
    synchronized (this) {
      if (isDueWithin(nanos)) {
        return;
      }
      soonest = beatNanos + nanos;
      dueNanos = soonest;
    }
    wakeups.by(soonest, time.monotonicNanos());
  }

  private boolean isDueWithin(long nanos) {
    return closed || dormant || dueNanos - beatNanos <= nanos;
  }

  /** Ends dormancy with a heartbeat that is due now. */
  void awake() {
    if (!dormant) { // without the lock: called for each request without a lease
      return;
    }
    long now = time.monotonicNanos();
    synchronized (this) {
      dormant = false;
      dueNanos = now;
    }
    wakeups.by(now, now);
  }

  boolean isDormant() {
    return dormant;
  }

  boolean isDue(long nowNanos) {
    return !dormant && dueNanos - nowNanos <= 0;
  }

  /** Notes that the heartbeat that was due is sent. */
  synchronized void sent(long nowNanos) {
    more = Math.max(0, more - 1);
    dueNanos = nowNanos + (more > 0 ? frequentNanos : membership.heartbeatNanos());
    beatNanos = nowNanos;
  }

  /** Wakes the node when its next heartbeat is due, or before at the end of its lease. */
  void next(LeasedShare share, long nowNanos) {
    long due = dueNanos;
    long fence = share.fenceNanos();
    boolean fences = share.isLeased() && !share.isOver() && fence - due < 0;
    wakeups.by(fences ? fence : due, nowNanos);
  }

  /** Sends no heartbeat until {@link #awake}. */
  void sleep() {
    dormant = true;
  }

  void close() {
    closed = true;
  }
}
