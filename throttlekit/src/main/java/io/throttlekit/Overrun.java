package io.throttlekit;

/** What becomes of a cost beyond what is left on a counter. */
public enum Overrun {
  /** Refused and not charged. A peek (cost 0) is refused when nothing is left. */
  REFUSE,

  /**
   * Charged whole and answered as refused, for costs that are known only after the fact. The debt
   * lasts as long as the algorithm remembers it. A peek is refused when nothing is left.
   */
  OVERDRAFT,

  /**
   * As envoyproxy/ratelimit counts: charged whole and answered as refused, and a peek is admitted
   * until the counter is beyond its limit.
   */
  COUNT
}
