package io.throttlekit.limiter;

import static java.util.Objects.requireNonNull;

import io.throttlekit.limiter.tenants.Tenant;
import org.jspecify.annotations.Nullable;

/**
 * A queued request in a {@link PermitQueue}. Only the thread that removes it from the queue sets
 * its result and notifies its callback.
 */
final class QueuedRequest implements PendingPermit {
  private final AdaptiveLimiter limiter;
  final PermitRequest request;
  private final PermitCallback callback;
  final boolean hasDeadline;
  final long deadlineNanos;
  private long order;

  /** Set while it is queued, if tenants share the permits. */
  @Nullable Tenant<QueuedRequest> tenant;

  private @Nullable Permit permit;
  private @Nullable Refusal refusal;

  /**
   * @param timeoutNanos wait timeout, or {@link Queueing#NO_TIMEOUT}
   */
  QueuedRequest(
      AdaptiveLimiter limiter,
      PermitRequest request,
      PermitCallback callback,
      long timeoutNanos,
      long nowNanos) {
    this.limiter = limiter;
    this.request = request;
    this.callback = callback;
    // So close to Long.MAX_VALUE the deadline would overflow.
    this.hasDeadline = timeoutNanos <= Queueing.NO_TIMEOUT / 2;
    this.deadlineNanos = nowNanos + (hasDeadline ? timeoutNanos : 0);
  }

  @Override
  public boolean cancel() {
    return limiter.cancel(this);
  }

  void joined(long order) {
    this.order = order;
  }

  void admit(Permit granted) {
    permit = granted;
  }

  void refuse(Refusal why) {
    refusal = why;
  }

  /** Notifies the callback. Returns the reason if the request was refused, else null. */
  @Nullable Refusal notifyCallback() {
    try {
      if (permit != null) {
        callback.admitted(permit);
      } else {
        callback.refused(requireNonNull(refusal));
      }
    } catch (Throwable bug) {
      if (permit != null) {
        // The callback failed, so it will not end the permit.
        permit.release();
      }
      CallbackQueue.report(bug);
    }
    return refusal;
  }

  /** Orders by arrival. */
  int compareOrders(QueuedRequest other) {
    return Long.compare(order, other.order);
  }

  /** Orders by deadline, then by arrival. */
  int compareDeadlines(QueuedRequest other) {
    // Deadlines are monotonic times: only their difference is safe against overflow.
    int byDeadline = Long.signum(deadlineNanos - other.deadlineNanos);
    return byDeadline != 0 ? byDeadline : Long.compare(order, other.order);
  }
}
