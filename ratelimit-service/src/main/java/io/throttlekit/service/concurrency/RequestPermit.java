package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.ConcurrencyRule.LeaseTerms;
import io.throttlekit.descriptors.policy.ConcurrencyRule.Release;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The permit of one request in flight, below all concurrency limits that it reached. Ends once;
 * later calls have no effect. Thread-safe.
 */
public final class RequestPermit {
  private final RequestPermits permits;
  private final String id;
  private final List<HeldPermit> held;
  final long ttlNanos;

  /** Whether the request's access log entry ends the permit. */
  final boolean endsWhenLogged;

  private final long startNanos;
  final long endNanos;

  RequestPermit(
      RequestPermits permits, String id, List<HeldPermit> held, LeaseTerms terms, long nowNanos) {
    this.permits = permits;
    this.id = id;
    this.held = held;
    this.ttlNanos = TimeUnit.MILLISECONDS.toNanos(terms.ttlMillis());
    this.endsWhenLogged = terms.release() == Release.ACCESS_LOG;
    this.startNanos = nowNanos;
    this.endNanos = nowNanos + ttlNanos;
  }

  /** Returns the id that ends the permit; printable ASCII. */
  public String id() {
    return id;
  }

  /** Ends the permit because the answer that names it never arrived; no effect if it has ended. */
  public void cancelled() {
    permits.end(this, PermitEnd.CANCELLED);
  }

  /** Ends the permit because another rule refused the request; no effect if it has ended. */
  public void refused() {
    permits.end(this, PermitEnd.REFUSED);
  }

  boolean isDue(long nowNanos) {
    // overflow-safe
    return nowNanos - endNanos >= 0;
  }

  /** Returns the time since it was opened. */
  long heldNanos(long nowNanos) {
    return nowNanos - startNanos;
  }

  /**
   * Ends the held permits as {@link #end(Ending)}, each by the evidence for its own limit.
   *
   * @param forwarded whether another process received the release: then the time until now is no
   *     latency of the backend, because it contains the time to forward
   */
  void end(StreamReport report, long nowNanos, boolean forwarded) {
    for (HeldPermit each : held) {
      Ending ending = each.limit().ends.ending(report, nowNanos);
      each.end(forwarded && ending == Ending.Plain.ANSWERED ? Ending.Plain.UNKNOWN : ending);
    }
  }

  /** Ends the held permits. To be called by the thread that removed this from the table. */
  void end(Ending ending) {
    for (HeldPermit each : held) {
      each.end(ending);
    }
  }
}
