package io.throttlekit.tier;

/**
 * Receives events of the tiers, to count them. Implementations are thread-safe, fast and do not
 * throw.
 */
public interface TierListener {

  /** Ignores all events. */
  TierListener NONE = new TierListener() {};

  /** A charge was decided. */
  default void decided(DecidedBy by) {}

  /** A lease was answered. */
  default void leased(long wanted, long granted) {}

  /** A lease failed, or was not answered in time. */
  default void leaseFailed() {}

  /** A request waits for a lease that is already in flight. */
  default void waiterJoined() {}

  /** A lease was requested ahead of need. */
  default void refillAhead() {}

  /** Units are returned to the store. */
  default void unitsReturned(long units) {}

  /** Units of an ended window expired unused. */
  default void forfeited(long units) {}

  /** Units arrived too late to be spent. */
  default void lateGrant(long units) {}

  /** A suspension of this process was detected; all leased units are returned. */
  default void suspended() {}

  /** A cell was evicted from memory. */
  default void evicted() {}

  /** A request was decided by its outage policy. */
  default void outage(Outage kind) {}
}
