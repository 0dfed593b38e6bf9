package io.throttlekit.service.concurrency;

import java.util.List;

/**
 * What one request has in flight, whatever ceilings it reached. Ends once, by whoever is first;
 * thread-safe.
 */
public final class Lease {
  private final Leases leases;
  private final String id;
  private final List<Slot> slots;
  private final long ttlNanos;
  private final long endNanos;

  Lease(Leases leases, String id, List<Slot> slots, long ttlNanos, long endNanos) {
    this.leases = leases;
    this.id = id;
    this.slots = slots;
    this.ttlNanos = ttlNanos;
    this.endNanos = endNanos;
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

  boolean isDue(long nowNanos) {
    return nowNanos - endNanos >= 0;
  }

  long endNanos() {
    return endNanos;
  }

  /** To be called by whoever has taken it out of the table. */
  void end(LeaseEnd how) {
    boolean sample = how == LeaseEnd.STREAM_DONE || how == LeaseEnd.ACCESS_LOG;
    for (Slot slot : slots) {
      if (sample) {
        slot.record();
      } else {
        slot.giveBack();
      }
    }
  }
}
