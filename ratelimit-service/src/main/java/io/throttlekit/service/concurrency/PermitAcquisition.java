package io.throttlekit.service.concurrency;

import io.throttlekit.Decision;
import io.throttlekit.descriptors.policy.ConcurrencyRule.LeaseTerms;
import io.throttlekit.descriptors.policy.ConcurrencyRule.Release;
import io.throttlekit.limiter.LimiterFigures;
import io.throttlekit.limiter.PendingPermit;
import io.throttlekit.limiter.Permit;
import io.throttlekit.limiter.PermitCallback;
import io.throttlekit.limiter.PermitRequest;
import io.throttlekit.limiter.Prioritizer;
import io.throttlekit.limiter.Priority;
import io.throttlekit.limiter.Refusal;
import io.throttlekit.limiter.tenants.PermitTenant;
import io.throttlekit.limiter.tenants.TenantFigures;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Passage of one request through the concurrency limits that it reaches, one after the other, until
 * it has a permit of all of them or one refuses it. A limit that is reached twice is entered once.
 *
 * <p>The callback runs once, on the calling thread or on another, or never if {@link #cancel} comes
 * first. Until then only one thread at a time uses the fields that are not guarded by this.
 * Thread-safe.
 */
public final class PermitAcquisition {

  /** Callback for the result. */
  public interface AcquisitionCallback {

    /**
     * Admits the request.
     *
     * @param permit of the request in flight, which must be ended; null if there is none
     */
    void entered(PermitAcquisition acquisition, @Nullable RequestPermit permit);

    /** Refuses the request; nothing is in flight. */
    void refused(PermitAcquisition acquisition);
  }

  private final ConcurrencyLimiter limiter;
  private final List<ReachedLimit> reached;
  private final @Nullable Decision[] decisions;
  private final long untilNanos;
  private final boolean noTimeout;
  private final AcquisitionCallback callback;
  private final List<PinnedLimit> passed;
  private final List<HeldPermit> held;

  // Guarded by this.
  private @Nullable PendingPermit waiting;
  private boolean gone;

  PermitAcquisition(
      ConcurrencyLimiter limiter,
      List<ReachedLimit> reached,
      long waitNanos,
      AcquisitionCallback callback) {
    this.limiter = limiter;
    this.reached = reached;
    this.decisions = new @Nullable Decision[reached.size()];
    this.noTimeout = waitNanos == Long.MAX_VALUE;
    // now + Long.MAX_VALUE would overflow
    this.untilNanos = noTimeout ? 0 : limiter.time().monotonicNanos() + waitNanos;
    this.callback = callback;
    this.passed = new ArrayList<>(reached.size());
    this.held = new ArrayList<>(reached.size());
  }

  /**
   * Returns the decision of the concurrency limit number {@code index}, or null if it was not
   * reached.
   */
  public @Nullable Decision decision(int index) {
    return decisions[index];
  }

  /** Stops waiting because the caller is gone; the callback does not run afterwards. */
  public void cancel() {
    PendingPermit was;
    synchronized (this) {
      gone = true;
      was = waiting;
    }
    if (was != null && was.cancel()) {
      abandon();
    }
  }

  void acquireFrom(int first) {
    for (int i = first; i < reached.size(); i++) {
      if (!enters(i)) {
        return;
      }
    }
    if (held.isEmpty()) {
      callback.entered(this, null);
      return;
    }
    RequestPermit permit = limiter.permits().open(held, terms());
    if (permit == null) {
      limiter.listener().noRoomForPermits();
      withoutPermit();
    } else {
      callback.entered(this, permit);
    }
  }

  /**
   * Refuses a request for which there is no room, on behalf of the first concurrency limit that
   * enforces.
   */
  private void withoutPermit() {
    for (int i = 0; i < reached.size(); i++) {
      Decision full = decisions[i];
      if (reached.get(i).refuses() && full != null) {
        decisions[i] = Decision.refuse(full.limit(), 0, 0, limiter.retryAfterMillis());
        var _ = refuse();
        return;
      }
    }
    releaseAll();
    callback.entered(this, null);
  }

  /**
   * Returns the terms of the permit: the shortest TTL of the limits reached, because it is the
   * tightest bound on the request, and {@code ACCESS_LOG} if any limit uses it, because an entry
   * describes the whole request.
   */
  private LeaseTerms terms() {
    long ttl = Long.MAX_VALUE;
    Release release = Release.STREAM_DONE;
    for (ReachedLimit each : reached) {
      LeaseTerms lease = each.gate().lease();
      ttl = Math.min(ttl, lease.ttlMillis());
      release = lease.release() == Release.ACCESS_LOG ? Release.ACCESS_LOG : release;
    }
    return new LeaseTerms(ttl, release);
  }

  private void releaseAll() {
    for (HeldPermit each : held) {
      each.end(Ending.Plain.UNKNOWN);
    }
  }

  /** Returns whether the next limit can be entered at once. */
  private boolean enters(int index) {
    ReachedLimit next = reached.get(index);
    PinnedLimit limit = limiter.limits().pin(next.rule(), next.terms(), next.entries());
    if (passed.contains(limit)) {
      decisions[index] = decided(true, next, limit);
      limit.unpin();
      return true;
    }
    if (!limit.arrived() && next.refuses()) {
      // the share of this process is not known yet: the answer takes one round trip
      limit.whenJoined(waitNanos(), () -> joined(index, limit));
      return false;
    }
    return enters(index, limit);
  }

  private void joined(int index, PinnedLimit limit) {
    if (isGone()) {
      limit.unpin();
      releaseAll();
    } else if (enters(index, limit)) {
      acquireFrom(index + 1);
    }
  }

  private boolean enters(int index, PinnedLimit limit) {
    ReachedLimit next = reached.get(index);
    if (next.looks()) {
      boolean room = limit.limiter().canAcquire(permitRequest(next, limit, 0));
      decisions[index] = decided(room, next, limit);
      limit.unpin();
      return room || !next.refuses() || refuse();
    }
    passed.add(limit);
    if (!next.refuses()) {
      // shadow mode: counted if there is room, never queued
      Permit permit = limit.limiter().tryAcquire(permitRequest(next, limit, 0));
      took(index, limit, permit);
      return true;
    }
    Turn turn = new Turn(index, limit);
    PendingPermit waits = limit.limiter().acquire(permitRequest(next, limit, waitNanos()), turn);
    return turn.mayContinue(waits);
  }

  private PermitRequest permitRequest(ReachedLimit next, PinnedLimit limit, long waitNanos) {
    PriorityTerms ranks = limit.priorities();
    Prioritizer prioritizer = limit.prioritizer();
    if (ranks == null || prioritizer == null) {
      return new PermitRequest(0, null, waitNanos, next.tenant());
    }
    String user = next.value(ranks.userEntry());
    int level = level(next.value(ranks.priorityEntry()), user, prioritizer);
    return new PermitRequest(level, user, waitNanos, next.tenant());
  }

  /**
   * Returns the level that {@code text} contains, or a level of the priority that it names; a level
   * of {@code MEDIUM} if it is neither.
   *
   * @param user by whose usage the level within the priority is chosen; null for a random one
   */
  static int level(@Nullable String text, @Nullable String user, Prioritizer prioritizer) {
    int level = text == null ? -1 : Priority.level(text);
    if (level >= 0) {
      return level;
    }
    Priority named = text == null ? null : Priority.named(text);
    Priority priority = named == null ? Priority.MEDIUM : named;
    return user == null ? prioritizer.level(priority) : prioritizer.level(priority, user);
  }

  private long waitNanos() {
    return noTimeout ? Long.MAX_VALUE : Math.max(0, untilNanos - limiter.time().monotonicNanos());
  }

  private void took(int index, PinnedLimit limit, @Nullable Permit permit) {
    decisions[index] = decided(permit != null, reached.get(index), limit);
    if (permit == null) {
      limiter.listener().refused(reached.get(index).rule(), Refusal.LIMIT_REACHED);
      limit.unpin();
    } else {
      held.add(new HeldPermit(limit, permit));
    }
  }

  private boolean refuse() {
    releaseAll();
    callback.refused(this);
    return false;
  }

  private void abandon() {
    // the limit at which the request waited: pinned, but without a permit
    passed.getLast().unpin();
    releaseAll();
  }

  private synchronized boolean isGone() {
    return gone;
  }

  /** Returns the decision with the limit of the request's tenant, or the whole limit. */
  private Decision decided(boolean admitted, ReachedLimit at, PinnedLimit limit) {
    PermitTenant tenant = at.tenant();
    TenantFigures part = tenant == null ? null : limit.limiter().figures(tenant);
    if (part != null) {
      return decided(admitted, part.limit(), part.free());
    }
    LimiterFigures now = limit.limiter().figures();
    return decided(admitted, now.limit(), Math.max(0, now.limit() - now.inFlight()));
  }

  private Decision decided(boolean admitted, int limit, int left) {
    return admitted
        ? Decision.admit(limit, left, 0)
        : Decision.refuse(limit, left, 0, limiter.retryAfterMillis());
  }

  /**
   * Acquires a permit of one concurrency limit and continues with the next: at once, or on the
   * thread that runs the callback.
   */
  private final class Turn implements PermitCallback {
    private final int index;
    private final PinnedLimit limit;

    // Guarded by the acquisition.
    private boolean returned;
    private boolean admitted;

    Turn(int index, PinnedLimit limit) {
      this.index = index;
      this.limit = limit;
    }

    @Override
    public void admitted(Permit permit) {
      took(index, limit, permit);
      boolean onOtherThread;
      synchronized (PermitAcquisition.this) {
        admitted = true;
        onOtherThread = returned;
      }
      if (onOtherThread) {
        if (isGone()) {
          releaseAll();
        } else {
          acquireFrom(index + 1);
        }
      }
    }

    @Override
    public void refused(Refusal why) {
      limiter.listener().refused(reached.get(index).rule(), why);
      decisions[index] = decided(false, reached.get(index), limit);
      limit.unpin();
      if (isGone()) {
        releaseAll();
      } else {
        var _ = refuse();
      }
    }

    /**
     * Returns whether the permit was acquired before {@code acquire} returned, so that the caller
     * has to continue.
     */
    boolean mayContinue(PendingPermit waits) {
      boolean entered;
      boolean left;
      synchronized (PermitAcquisition.this) {
        returned = true;
        waiting = waits;
        entered = admitted;
        left = gone;
      }
      if (entered && left) {
        releaseAll();
      } else if (left && waits.cancel()) {
        abandon();
      }
      return entered && !left;
    }
  }
}
