package io.throttlekit;

/** The treatment of a limit when the store has lost its counters. */
public enum DataLoss {
  /** Counters start again: at most one more limit is admitted for each loss. */
  REFILL,

  /** All requests are refused until the window in which the counters were lost has ended. */
  DENY
}
