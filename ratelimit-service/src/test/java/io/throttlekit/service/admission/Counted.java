package io.throttlekit.service.admission;

/** Where the counters of a test are. */
enum Counted {
  IN_MEMORY,

  /** Behind tiers. */
  IN_A_STORE
}
