package io.throttlekit.concurrency;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * A queued request in a {@link PermitQueue}. Only the thread that removes it from the queue sets
 * its result and notifies its callback.
 */
final class QueuedRequest implements PendingPermit {
  private final AdaptiveLimiter limiter;
  private final PermitRequest request;
  private final PermitCallback applicant;
  private final boolean patient;
  private final long endNanos;
  private long order;
  private @Nullable Permit permit;
  private @Nullable Refusal refusal;

  /**
   * @param patient whether it waits without a timeout; {@code endNanos} is not used then
   */
  QueuedRequest(
      AdaptiveLimiter limiter,
      PermitRequest request,
      PermitCallback applicant,
      boolean patient,
      long endNanos) {
    this.limiter = limiter;
    this.request = request;
    this.applicant = applicant;
    this.patient = patient;
    this.endNanos = endNanos;
  }

  @Override
  public boolean cancel() {
    return limiter.cancel(this);
  }

  void joined(long order) {
    this.order = order;
  }

  void admit(long nowNanos, int inFlight) {
    permit = new Permit(limiter, request.user(), nowNanos, inFlight);
  }

  void refuse(Refusal why) {
    refusal = why;
  }

  /** Notifies the callback. Returns the reason if the request was refused, else null. */
  @Nullable Refusal tell() {
    try {
      if (permit != null) {
        applicant.admitted(permit);
      } else {
        applicant.refused(requireNonNull(refusal));
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

  boolean isPatient() {
    return patient;
  }

  long endNanos() {
    return endNanos;
  }

  /** Orders by arrival in the queue. */
  int compareOrders(QueuedRequest other) {
    return Long.compare(order, other.order);
  }

  /** Orders by deadline, then by arrival. */
  int compareEnds(QueuedRequest other) {
    // Deadlines are monotonic times: only their difference is safe against overflow.
    int byEnd = Long.signum(endNanos - other.endNanos);
    return byEnd != 0 ? byEnd : compareOrders(other);
  }
}
