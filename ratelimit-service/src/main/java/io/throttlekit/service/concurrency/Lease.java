package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.policy.ConcurrencyRule.LeaseTerms;
import io.throttlekit.descriptors.policy.ConcurrencyRule.Release;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The slots that one request has in flight below all concurrency limits it reached. Ends once;
 * later calls have no effect. Thread-safe.
 */
public final class Lease {
  private final Leases leases;
  private final String id;
  private final List<Slot> slots;
  final long ttlNanos;

  /** Whether the request's access log entry ends the lease. */
  final boolean endsWhenLogged;

  final long endNanos;

  Lease(Leases leases, String id, List<Slot> slots, LeaseTerms terms, long nowNanos) {
    this.leases = leases;
    this.id = id;
    this.slots = slots;
    this.ttlNanos = TimeUnit.MILLISECONDS.toNanos(terms.ttlMillis());
    this.endsWhenLogged = terms.release() == Release.ACCESS_LOG;
    this.endNanos = nowNanos + ttlNanos;
  }

  /** Returns the id that ends the lease; printable ASCII. */
  public String id() {
    return id;
  }

  /** Ends the lease because the answer that names it never arrived; no effect if it has ended. */
  public void cancelled() {
    leases.end(this, LeaseEnd.CANCELLED);
  }

  /** Ends the lease because another rule refused the request; no effect if it has ended. */
  public void refused() {
    leases.end(this, LeaseEnd.REFUSED);
  }

  boolean isDue(long nowNanos) {
    // overflow-safe
    return nowNanos - endNanos >= 0;
  }

  /** Ends the slots. To be called by the thread that removed the lease from the table. */
  void end(Ending ending) {
    for (Slot slot : slots) {
      slot.end(ending);
    }
  }
}
