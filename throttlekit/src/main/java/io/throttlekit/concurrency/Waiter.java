package io.throttlekit.concurrency;

import static java.util.Objects.requireNonNull;

import org.jspecify.annotations.Nullable;

/**
 * One place in a {@link WaitingLine}. Whoever takes it out of the line, and nobody else, answers it
 * and then tells it.
 */
final class Waiter implements Waiting {
  private final AdaptiveLimiter limiter;
  private final PermitRequest request;
  private final Applicant applicant;
  private final boolean patient;
  private final long endNanos;
  private long order;
  private @Nullable Permit permit;
  private @Nullable Refusal refusal;

  /**
   * @param patient whether it waits as long as it takes, so that {@code endNanos} means nothing
   */
  Waiter(
      AdaptiveLimiter limiter,
      PermitRequest request,
      Applicant applicant,
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

  /** Tells the applicant; says why where it was refused. */
  @Nullable Refusal tell() {
    try {
      if (permit != null) {
        applicant.admitted(permit);
      } else {
        applicant.refused(requireNonNull(refusal));
      }
    } catch (Throwable bug) {
      if (permit != null) {
        permit.release();
      }
      Tellings.report(bug);
    }
    return refusal;
  }

  boolean isPatient() {
    return patient;
  }

  long endNanos() {
    return endNanos;
  }

  /** Whose waiting ends first is less. */
  int compareEnds(Waiter other) {
    int byEnd = Long.signum(endNanos - other.endNanos);
    return byEnd != 0 ? byEnd : Long.compare(order, other.order);
  }
}
