package io.throttlekit.store;

import io.throttlekit.rate.FixedWindow;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The terms that every region has to agree on for one descriptor; otherwise they would share
 * different budgets.
 *
 * @param scope of the budgets, without their size: the domain, as a rule
 * @param budgets all budgets of the descriptor, in the order of its limits
 */
public record Terms(String scope, List<FixedWindow> budgets) {

  /** Copies the list. */
  public Terms {
    budgets = List.copyOf(budgets);
  }

  /** Returns the budgets as text: {@code 300 per 10000 ms, 5000 per 3600000 ms}. */
  public String inWords() {
    return budgets.stream()
        .map(budget -> budget.limit() + " per " + budget.windowMillis() + " ms")
        .collect(Collectors.joining(", "));
  }
}
