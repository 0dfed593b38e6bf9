package io.throttlekit.service.concurrency;

import io.throttlekit.descriptors.Ceiling.LeaseTerms;
import io.throttlekit.descriptors.Ceiling.Release;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * What one request has in flight, whatever ceilings it reached. Ends once, by whoever is first;
 * thread-safe.
 */
public final class Lease {
  private final Leases leases;
  private final String id;
  private final List<Slot> slots;
  private final long ttlNanos;
  private final boolean endsWhenLogged;
  private final long endNanos;

  Lease(Leases leases, String id, List<Slot> slots, LeaseTerms terms, long nowNanos) {
    this.leases = leases;
    this.id = id;
    this.slots = slots;
    this.ttlNanos = TimeUnit.MILLISECONDS.toNanos(terms.ttlMillis());
    this.endsWhenLogged = terms.release() == Release.ACCESS_LOG;
    this.endNanos = nowNanos + ttlNanos;
  }

  /** The name by which it can be ended; printable ASCII. */
  public String id() {
    return id;
  }

  /** Ends it because the answer that names it never arrived; does nothing when it is over. */
  public void cancelled() {
    leases.end(this, LeaseEnd.CANCELLED);
  }

  /** Ends it because another rule refused the request; does nothing when it is over. */
  public void refused() {
    leases.end(this, LeaseEnd.REFUSED);
  }

  long ttlNanos() {
    return ttlNanos;
  }

  /** Whether the request's entry in an access log ends it. */
  boolean endsWhenLogged() {
    return endsWhenLogged;
  }

  boolean isDue(long nowNanos) {
    return nowNanos - endNanos >= 0;
  }

  long endNanos() {
    return endNanos;
  }

  /** To be called by whoever has taken it out of the table. */
  void end(Ending ending) {
    for (Slot slot : slots) {
      slot.end(ending);
    }
  }
}
