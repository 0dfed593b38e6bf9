package io.throttlekit;

/** The treatment of a cost that exceeds the remaining units of a counter. */
public enum Overrun {
  /** The cost is refused and not charged. A peek (cost 0) is refused if no unit is left. */
  REFUSE,

  /**
   * The full cost is charged and the decision is refused, for costs that are known only afterwards.
   * The debt lasts as long as the algorithm keeps it. A peek is refused if no unit is left.
   */
  OVERDRAFT,

  /**
   * As in envoyproxy/ratelimit: the full cost is charged and the decision is refused; a peek is
   * admitted until the counter exceeds its limit.
   */
  COUNT
}
