package io.throttlekit.tier;

import io.throttlekit.store.StoreException;
import org.jspecify.annotations.Nullable;

/** Waits for a lease. Is told once, on the thread that brought the answer. */
interface LeaseWaiter {

  /** What became of a lease. */
  enum End {
    /** It was answered in time; what it granted is credited. */
    CREDITED,
    /** It was answered too late to be spent. */
    LATE,
    /** It was not answered. */
    FAILED
  }

  /**
   * Is told.
   *
   * @param failure why a lease was not answered, where the store said so
   */
  void leaseEnded(End end, @Nullable StoreException failure);
}
