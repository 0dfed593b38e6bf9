package io.throttlekit.limiter;

import static io.throttlekit.limiter.RequestCounts.ONE_IN_FLIGHT;
import static io.throttlekit.limiter.RequestCounts.ONE_QUEUED;
import static io.throttlekit.limiter.RequestCounts.inFlight;
import static io.throttlekit.limiter.RequestCounts.queued;
import static java.util.Objects.requireNonNull;
import static java.util.Objects.requireNonNullElse;

import io.throttlekit.TimeSource;
import io.throttlekit.limiter.tenants.PermitShares;
import io.throttlekit.limiter.tenants.PermitTenant;
import io.throttlekit.limiter.tenants.ShareFigures;
import io.throttlekit.limiter.tenants.Tenant;
import io.throttlekit.limiter.tenants.TenantFigures;
import io.throttlekit.limiter.tenants.TenantState;
import io.throttlekit.limiter.tenants.TenantTerms;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The permits of a limiter, and the requests that wait for one. Thread-safe.
 *
 * <p>Its lock guards the queue, the tenants, and the waiting half of the counts. Without tenants, a
 * permit is taken and released without the lock.
 */
final class PermitPool {
  private final AdaptiveLimiter limiter;
  private final SynchronizedLimit algorithm;
  private final TimeSource time;
  private final RequestCounts counts;

  // Guarded by this.
  private final PermitQueue queue = new PermitQueue();
  private final @Nullable PermitShares<QueuedRequest> shares;

  private final Consumer<List<QueuedRequest>> onAnswered;

  /** When a request was last held back although permits were free. */
  private volatile long heldBackNanos;

  /**
   * @param onUse called after the first request has come, and after the last one has left
   * @param onAnswered receives waiting requests that {@link #take} admitted; called without the
   *     lock
   */
  PermitPool(
      AdaptiveLimiter limiter,
      SynchronizedLimit algorithm,
      LimiterBuilder builder,
      Runnable onUse,
      Consumer<List<QueuedRequest>> onAnswered) {
    this.limiter = limiter;
    this.algorithm = algorithm;
    this.time = builder.time;
    this.shares = builder.tenants == null ? null : new PermitShares<>(builder.tenants);
    this.counts = new RequestCounts(onUse);
    this.onAnswered = onAnswered;
    this.heldBackNanos = time.monotonicNanos() - 1; // before the first request
  }

  /** Returns the requests in flight and those that wait, see {@link RequestCounts}. */
  long counts() {
    return counts.get();
  }

  /** Admits nothing from here on that was decided by an earlier limit. */
  void startVersion() {
    counts.startVersion();
  }

  /** Returns whether no permit is free, or those that are free are for requests that wait. */
  boolean isFull() {
    long now = counts.get();
    return (shares == null && queued(now) > 0) || inFlight(now) >= algorithm.limit();
  }

  /** Returns why a request that does not wait has no permit. */
  Refusal noPermit() {
    return shares == null || isFull() ? Refusal.LIMIT_REACHED : Refusal.ABOVE_PART;
  }

  /** Returns whether tenants share the permits. */
  boolean isDivided() {
    return shares != null;
  }

  /** Returns a permit if one is free for this request, and for none that waits; else null. */
  @Nullable Permit take(PermitRequest request) {
    if (shares != null) {
      List<QueuedRequest> answered = new ArrayList<>(0); // rarely used: takes no memory before
      Permit permit = take(shares, request, answered);
      onAnswered.accept(answered);
      return permit;
    }
    for (long now = counts.get(); !isFullOrQueued(now); now = counts.get()) {
      if (counts.compareAndSet(now, now + ONE_IN_FLIGHT)) {
        return permit(request, null, inFlight(now) + 1);
      }
    }
    return null;
  }

  private synchronized @Nullable Permit take(
      PermitShares<QueuedRequest> shares, PermitRequest request, List<QueuedRequest> answered) {
    Tenant<QueuedRequest> tenant = shares.arrived(tenantOf(request), time.monotonicNanos());
    for (long now = counts.get(); ; now = counts.get()) {
      int limit = algorithm.limit();
      if (shares.next(queue.first(), limit, inFlight(now)) != null) {
        admitWaiting(answered); // a permit has ended since the last call, or parts have changed
      } else if (!shares.admits(tenant, limit, inFlight(now))) {
        return null;
      } else if (counts.compareAndSet(now, now + ONE_IN_FLIGHT)) {
        shares.took(tenant);
        return permit(request, tenant, inFlight(now) + 1);
      }
    }
  }

  /** Returns whether {@link #take} would return a permit without admitting another request. */
  boolean canTake(PermitRequest request) {
    if (shares == null) {
      return !isFullOrQueued(counts.get());
    }
    synchronized (this) {
      shares.expire(time.monotonicNanos());
      return shares.next(queue.first(), algorithm.limit(), inFlight(counts.get())) == null
          && requireNonNull(figures(tenantOf(request))).free() > 0;
    }
  }

  /** Counts the end of a permit, and returns the counts. */
  long release(Permit permit) {
    Tenant<QueuedRequest> tenant = permit.tenant;
    if (shares == null || tenant == null) {
      return counts.add(-ONE_IN_FLIGHT);
    }
    synchronized (this) {
      shares.released(tenant, time.monotonicNanos());
      return counts.add(-ONE_IN_FLIGHT);
    }
  }

  /** Returns whether the request is within its tenant's part, so that it may always wait. */
  boolean isWithinPart(PermitRequest request) {
    if (shares == null) {
      return false;
    }
    TenantFigures tenant = figures(tenantOf(request));
    return tenant != null && tenant.isWithinPart();
  }

  /** Adds a waiting request. The caller holds the lock. */
  void add(QueuedRequest waiting) {
    queue.add(waiting);
    if (shares != null) {
      waiting.tenant = shares.arrived(tenantOf(waiting.request), time.monotonicNanos());
      shares.add(waiting.tenant, waiting);
    }
    counts.add(ONE_QUEUED);
  }

  /** Removes a waiting request. Returns whether it was still waiting. */
  synchronized boolean remove(QueuedRequest waiting) {
    if (!queue.remove(waiting)) {
      return false;
    }
    left(waiting);
    counts.add(-ONE_QUEUED);
    return true;
  }

  /** Removes all waiting requests. */
  synchronized List<QueuedRequest> removeAll() {
    List<QueuedRequest> all = queue.removeAll();
    all.forEach(this::left);
    counts.add(-all.size());
    return all;
  }

  /**
   * Refuses the requests whose wait has timed out, and admits others as there are permits.
   *
   * @param answered receives them
   * @return ns until this has to be called again at the latest; Long.MAX_VALUE if it need not
   */
  synchronized long serve(long nowNanos, List<QueuedRequest> answered) {
    for (QueuedRequest due = queue.pollDue(nowNanos); due != null; due = queue.pollDue(nowNanos)) {
      left(due);
      counts.add(-ONE_QUEUED);
      due.refuse(Refusal.WAITED_TOO_LONG);
      answered.add(due);
    }
    if (shares != null) {
      shares.expire(nowNanos);
    }
    admitWaiting(answered);
    QueuedRequest due = queue.firstDue();
    long untilDue = due == null ? Long.MAX_VALUE : due.deadlineNanos - nowNanos;
    boolean held = shares != null && queue.first() != null && !isFull();
    // What is reserved for a tenant is free for the others once it is not active any more.
    return held ? Math.min(untilDue, requireNonNull(shares).untilExpiry(nowNanos)) : untilDue;
  }

  private void admitWaiting(List<QueuedRequest> answered) {
    for (QueuedRequest next = admitNext(); next != null; next = admitNext()) {
      answered.add(next);
    }
  }

  private @Nullable QueuedRequest admitNext() {
    for (long now = counts.get(); ; now = counts.get()) {
      QueuedRequest next = next(inFlight(now));
      if (next == null) {
        return null;
      }
      if (counts.compareAndSet(now, now + ONE_IN_FLIGHT - ONE_QUEUED)) {
        boolean _ = queue.remove(next);
        Tenant<QueuedRequest> tenant = next.tenant;
        if (shares != null && tenant != null) {
          shares.took(tenant); // first, so that the tenant is not idle in between
        }
        left(next);
        next.admit(permit(next.request, tenant, inFlight(now) + 1));
        return next;
      }
    }
  }

  /** Returns the waiting request that may have a permit, or null. */
  private @Nullable QueuedRequest next(int inFlight) {
    QueuedRequest first = queue.first();
    int limit = algorithm.limit();
    if (shares != null) {
      return shares.next(first, limit, inFlight);
    }
    return inFlight < limit ? first : null;
  }

  private void left(QueuedRequest waiting) {
    Tenant<QueuedRequest> tenant = waiting.tenant;
    if (shares != null && tenant != null) {
      shares.remove(tenant, waiting, time.monotonicNanos());
    }
  }

  /** Notes that a request has to wait. */
  void waits() {
    if (shares == null || isFull()) {
      algorithm.refused();
    } else {
      heldBack();
    }
  }

  /** Notes that a request was refused. */
  void refused() {
    if (isFull()) {
      algorithm.refused();
    } else if (shares != null) {
      heldBack();
    }
  }

  private void heldBack() {
    heldBackNanos = time.monotonicNanos();
    algorithm.heldBack();
  }

  /**
   * Returns the requests in flight as the limit algorithm is to see them. While requests are held
   * back for tenants that do not use their parts, the limit is to stay as it is.
   */
  int used(Permit permit) {
    return shares == null || heldBackNanos - permit.startNanos < 0
        ? permit.inFlight
        : Math.max(permit.inFlight, algorithm.restingInFlight());
  }

  /** Applies other terms, if tenants share the permits. */
  synchronized void change(TenantTerms newest) {
    if (shares != null) {
      shares.change(newest);
    }
  }

  /** Returns the figures of all tenants; null if none share the permits. */
  synchronized @Nullable ShareFigures shareFigures() {
    return shares == null
        ? null
        : shares.figures(algorithm.limit(), inFlight(counts.get()), time.monotonicNanos());
  }

  /** Returns the figures of a tenant; null if none share the permits. */
  synchronized @Nullable TenantFigures figures(PermitTenant tenant) {
    return shares == null
        ? null
        : shares.peek(tenant, algorithm.limit(), inFlight(counts.get()), time.monotonicNanos());
  }

  /** Returns the tenants with the most requests in flight; none if none share the permits. */
  synchronized List<TenantState> busiest(int most) {
    return shares == null
        ? List.of()
        : shares.busiest(most, algorithm.limit(), inFlight(counts.get()), time.monotonicNanos());
  }

  private boolean isFullOrQueued(long now) {
    return queued(now) > 0 || inFlight(now) >= algorithm.limit(); // no request overtakes the queue
  }

  private Permit permit(
      PermitRequest request, @Nullable Tenant<QueuedRequest> tenant, int inFlight) {
    return new Permit(limiter, request.user(), tenant, time.monotonicNanos(), inFlight);
  }

  private static PermitTenant tenantOf(PermitRequest request) {
    return requireNonNullElse(request.tenant(), PermitTenant.UNNAMED);
  }
}
