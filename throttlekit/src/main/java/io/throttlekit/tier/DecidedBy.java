package io.throttlekit.tier;

/** Who decided a charge. */
public enum DecidedBy {
  /** Counters in this process's memory, which nobody shares. */
  MEMORY,

  /** The shared store, for this request. */
  STORE,

  /** Units that this process had leased, or its knowledge that there are none left. */
  LEASE,

  /** Units of what all regions share that this process had leased, or knowing that none is left. */
  GLOBAL_LEASE,

  /** A refusal of the store that still stands. */
  CACHED_DENIAL,

  /** {@link Outage}, because the store did not answer. */
  OUTAGE,

  /** Nobody: the request was refused for another charge, and this one was not looked at. */
  NOBODY
}
