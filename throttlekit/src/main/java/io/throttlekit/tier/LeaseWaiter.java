package io.throttlekit.tier;

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

  void leaseEnded(End end);
}
