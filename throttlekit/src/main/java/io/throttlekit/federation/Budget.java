package io.throttlekit.federation;

import io.throttlekit.CounterKey;
import io.throttlekit.rate.FixedWindow;
import io.throttlekit.store.Terms;

/**
 * So many units of one counter for each window, over all regions.
 *
 * @param key the counter
 * @param window its limit, and the length of a window
 * @param terms what all regions have to agree on, of which this is a part
 */
public record Budget(CounterKey key, FixedWindow window, Terms terms) {

  /** Checks that the terms have this budget. */
  public Budget {
    if (!terms.budgets().contains(window)) {
      throw new IllegalArgumentException(
          "the terms (%s) have no budget of %d per %d ms"
              .formatted(terms.inWords(), window.limit(), window.windowMillis()));
    }
  }

  /** Whom the terms are about: the entries of the counter, whatever its window. */
  public CounterKey party() {
    return key.inScope(terms.scope());
  }
}
