package io.throttlekit.tier;

import io.throttlekit.Decision;
import java.util.List;

/**
 * The decisions on the claims of one request.
 *
 * @param admitted whether the request may pass
 * @param decisions one per charge, in the order of the claims and of their charges
 * @param decidedBy the source of each decision
 */
public record TieredOutcome(boolean admitted, List<Decision> decisions, List<DecidedBy> decidedBy) {

  /** Copies the lists. */
  public TieredOutcome {
    decisions = List.copyOf(decisions);
    decidedBy = List.copyOf(decidedBy);
  }
}
