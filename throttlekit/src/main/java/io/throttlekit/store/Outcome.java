package io.throttlekit.store;

import io.throttlekit.Decision;
import java.util.List;

/**
 * A store's decisions on the claims of one request.
 *
 * @param admitted whether the request may pass
 * @param decisions one per charge, in the order of the claims and of their charges
 */
public record Outcome(boolean admitted, List<Decision> decisions) {

  /** Copies the list. */
  public Outcome {
    decisions = List.copyOf(decisions);
  }
}
