package io.throttlekit.federation;

import io.throttlekit.CounterKey;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Terms;

/**
 * A limit of units per window, shared by all regions.
 *
 * @param key the counter
 * @param window its limit and window length
 * @param terms the terms that all regions have to agree on; they include this budget
 */
public record Budget(CounterKey key, FixedWindow window, Terms terms) {

  /** Checks that the terms include this budget. */
  public Budget {
    if (!terms.budgets().contains(window)) {
      throw new IllegalArgumentException(
          "the terms (%s) have no budget of %d per %d ms"
              .formatted(terms.inWords(), window.limit(), window.windowMillis()));
    }
  }

  /** Returns the key that the terms apply to: the entries of the counter, whatever its window. */
  public CounterKey party() {
    return key.inScope(terms.scope());
  }
}
