package io.throttlekit.tier;

/** Is told what the tiers do, to count it. Thread-safe, quick, and without exceptions. */
public interface TierListener {

  /** Listens to nothing. */
  TierListener NONE = new TierListener() {};

  /** A charge was decided. */
  default void decided(DecidedBy by) {}

  /** A lease was answered. */
  default void leased(long wanted, long granted) {}

  /** A lease failed, or was not answered in time. */
  default void leaseFailed() {}

  /** A request waits for a lease that was asked for already. */
  default void rider() {}

  /** A lease was asked for ahead of need. */
  default void refillAhead() {}

  /** Units go back to the store. */
  default void gaveBack(long units) {}

  /** Units of a window that has ended were left over. */
  default void forfeited(long units) {}

  /** Units came too late to be spent. */
  default void lateGrant(long units) {}

  /** This process was suspended, and gives back what it had leased. */
  default void suspended() {}

  /** A cell was pushed out of memory. */
  default void evicted() {}

  /** A request was answered for the store. */
  default void outage(Outage kind) {}
}
