package io.throttlekit.store;

import io.throttlekit.rate.FixedWindow;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What every region has to say alike of one descriptor, or they would share different budgets.
 *
 * @param scope who the budgets are for, without how large they are: the domain, as a rule
 * @param budgets all of the descriptor, in the order of its limits
 */
public record Terms(String scope, List<FixedWindow> budgets) {

  /** Keeps a copy of the list. */
  public Terms {
    budgets = List.copyOf(budgets);
  }

  /** For people: {@code 300 per 10000 ms, 5000 per 3600000 ms}. */
  public String inWords() {
    return budgets.stream()
        .map(budget -> budget.limit() + " per " + budget.windowMillis() + " ms")
        .collect(Collectors.joining(", "));
  }
}
