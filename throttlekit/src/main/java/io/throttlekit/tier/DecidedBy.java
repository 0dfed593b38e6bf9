package io.throttlekit.tier;

/** The source of the decision on a charge. */
public enum DecidedBy {
  /** Counters in this process's memory, shared with no other process. */
  MEMORY,

  /** The shared store, for this request. */
  STORE,

  /** Units that this process had leased, or the store's report that none are left. */
  LEASE,

  /** Globally shared units that this process had leased, or the report that none are left. */
  GLOBAL_LEASE,

  /** A cached refusal of the store. */
  CACHED_DENIAL,

  /** {@link Outage}, because the store did not answer. */
  OUTAGE,

  /** None: the request was refused because of another charge, and this one was not decided. */
  NONE
}
