package io.throttlekit.share;

import io.throttlekit.TimeSource;
import io.throttlekit.limiter.LimitBound;

/**
 * The share that a node applies: the bound that its limiter checks with each admission, until
 * shortly before the lease ends.
 *
 * <p>Read by any thread; changed only under the lock of its {@link DistributedLimiter}.
 */
final class LeasedShare implements LimitBound {
  private final OnOutage onOutage;
  private final TimeSource time;
  private final Runnable beatSoon;
  private final Runnable joinSoon;
  private final Runnable released;

  private volatile int share;
  private volatile long fenceNanos;
  private volatile boolean leased;
  private volatile boolean suspended;
  private volatile boolean closed;

  /** Permits below which a refused request calls for more. */
  private volatile int equalShare;

  /** Requests in flight by the last heartbeat, if they were above the share; else 0. */
  private volatile int reportedDebt;

  /** Whether a request came or ended since the last {@link #takeUsed}. */
  private volatile boolean used;

  /**
   * Creates a share of nothing, without a lease.
   *
   * @param beatSoon called when the coordinator should be notified before the next heartbeat is due
   * @param joinSoon called for requests without a lease
   * @param released called when a request has ended
   */
  LeasedShare(
      OnOutage onOutage, TimeSource time, Runnable beatSoon, Runnable joinSoon, Runnable released) {
    this.onOutage = onOutage;
    this.time = time;
    this.beatSoon = beatSoon;
    this.joinSoon = joinSoon;
    this.released = released;
  }

  @Override
  public int requests() {
    if (closed) {
      return 0;
    }
    if (onOutage == OnOutage.LOCAL_ONLY && (!leased || suspended || isOver())) {
      return Integer.MAX_VALUE;
    }
    return suspended || isFenced() ? 0 : share;
  }

  @Override
  public void released(int inFlight) {
    use();
    released.run();
    if (reportedDebt > 0 && inFlight <= share) {
      reportedDebt = 0;
      beatSoon.run();
    }
  }

  @Override
  public void refused() {
    use();
    if (share < equalShare) {
      beatSoon.run();
    }
  }

  /** Notes that there are requests. */
  void use() {
    if (!used) { // a plain read first: a write for each request would contend
      used = true;
    }
    if (!leased) {
      joinSoon.run();
    }
  }

  /** Returns whether there were requests since the last call. */
  boolean takeUsed() {
    boolean was = used;
    used = false;
    return was;
  }

  /** Returns the share, as if its lease had not ended. */
  int share() {
    return share;
  }

  /** Returns whether a lease was granted since the node joined. It may have ended. */
  boolean isLeased() {
    return leased;
  }

  /** Returns whether nothing is admitted because the lease ends without an answer. */
  boolean isFenced() {
    return onOutage == OnOutage.FAIL_CLOSED && leased && isOver();
  }

  /** Returns whether the lease, less its margin, has ended. */
  boolean isOver() {
    return time.monotonicNanos() - fenceNanos >= 0;
  }

  /** Returns until when the share is applied, if it is leased and not over. */
  long fenceNanos() {
    return fenceNanos;
  }

  /** Applies a share, until {@code untilNanos} or an end that was granted before and is later. */
  void grant(int requests, int equal, long untilNanos) {
    if (!leased || untilNanos - fenceNanos > 0) {
      fenceNanos = untilNanos;
    }
    leased = true;
    equalShare = equal;
    share = requests;
  }

  /** Notes what a heartbeat reports. */
  void report(int inFlight) {
    reportedDebt = inFlight > share ? inFlight : 0;
  }

  /** Applies a share of nothing, within the same lease. */
  void revoke() {
    share = 0;
  }

  /** Admits nothing by the share until it is resumed, or the lease given up. */
  void suspend() {
    suspended = true;
  }

  /** Admits by the share again. */
  void resume() {
    suspended = false;
  }

  /** Gives up the lease. */
  void leave() {
    share = 0;
    equalShare = 0;
    reportedDebt = 0;
    leased = false;
    suspended = false;
  }

  /** Admits nothing from here on. */
  void close() {
    closed = true;
    share = 0;
  }
}
