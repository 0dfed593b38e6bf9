package io.throttlekit.fairness;

/** The used amounts of the tenants of one weight, with their multiplicity. Not thread-safe. */
interface UsedAmounts {

  /** Removes all amounts and adds {@code count} times 0. */
  void reset(int count);

  /** Adds an amount, from 0. */
  void add(long amount);

  /** Removes an amount that was added. */
  void remove(long amount);

  /** Returns Σ max(0, guarantee − amount) over all amounts. */
  long unused(long guarantee);

  /** Returns how many nodes of a tree {@link #unused} visits. */
  int depth();
}
