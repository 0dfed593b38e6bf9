package io.throttlekit.fairness;

/**
 * The active tenants of one weight. All have the same guarantee, so their reserve depends only on
 * what each has used. Not thread-safe.
 */
final class WeightGroup {
  final TenantWeight weight;
  private final UsedTree used = new UsedTree();

  /** Tenants seen in this window, and those seen in the window before only. */
  private int seen;

  private int carried;

  /** Each tenant's, as of the last {@link #guarantee}. */
  private long guarantee;

  /**
   * Σ max(0, guarantee − used). Modulo 2^64 while more tenants have joined than the guarantee was
   * computed for; exact again after {@link #guarantee}.
   */
  private long reserve;

  WeightGroup(TenantWeight weight) {
    this.weight = weight;
  }

  int count() {
    return seen + carried;
  }

  long reserve() {
    return reserve;
  }

  void add(long amount, boolean wasSeen) {
    count(wasSeen, 1);
    used.add(amount);
    reserve += unused(amount);
  }

  void remove(long amount, boolean wasSeen) {
    count(wasSeen, -1);
    used.remove(amount);
    reserve -= unused(amount);
  }

  private void count(boolean wasSeen, int change) {
    if (wasSeen) {
      seen += change;
    } else {
      carried += change;
    }
  }

  /** Counts a tenant as seen that was carried over. */
  void see() {
    carried--;
    seen++;
  }

  void move(long from, long to) {
    used.remove(from);
    used.add(to);
    reserve += unused(to) - unused(from);
  }

  /** Sets each tenant's guarantee. */
  void guarantee(long each) {
    if (each != guarantee) {
      guarantee = each;
      reserve = used.unused(each);
    }
  }

  /** Begins the next window: those seen in the last one are carried over with nothing used. */
  void roll() {
    carried = seen;
    seen = 0;
    used.reset(carried);
    reserve = carried * guarantee;
  }

  int depth() {
    return used.depth();
  }

  private long unused(long amount) {
    return Math.max(0, guarantee - amount);
  }
}
