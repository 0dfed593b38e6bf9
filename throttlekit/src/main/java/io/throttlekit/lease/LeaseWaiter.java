package io.throttlekit.lease;

import io.throttlekit.store.StoreException;
import org.jspecify.annotations.Nullable;

/** A request that waits for a lease. Notified once, on the thread that delivers the answer. */
public interface LeaseWaiter {

  /** The result of a lease. */
  enum End {
    /** Answered in time; the grant is credited. */
    CREDITED,
    /** Answered too late to be spent. */
    LATE,
    /** Failed, or not answered. */
    FAILED
  }

  /**
   * Notifies the waiter that its lease has ended.
   *
   * @param cell the cell whose lease it was
   * @param failure the cause of a failure, where it is known
   */
  void leaseEnded(LeaseCell cell, End end, @Nullable StoreException failure);
}
