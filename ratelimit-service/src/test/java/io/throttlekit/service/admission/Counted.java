package io.throttlekit.service.admission;

/** Location of the counters of a test. */
enum Counted {
  IN_MEMORY,

  /** In a store, behind tiers. */
  IN_A_STORE
}
