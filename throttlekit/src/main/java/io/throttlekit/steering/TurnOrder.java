package io.throttlekit.steering;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;

/** The order in which ids get a slot while there are fewer slots than ids. Not thread-safe. */
final class TurnOrder {
  private static final long DEMAND_NANOS = 10_000_000_000L; // see LimitShares.reported

  /** Ids with recent demand first; among them the id whose last turn is the longest ago. */
  private static final Comparator<LimiterGroup> FIRST =
      Comparator.comparing((LimiterGroup id) -> !id.active).thenComparingLong(id -> id.lastTurn);

  private final long turnNanos;
  private long turns;
  private long turnBegan;

  /**
   * @param turnNanos how long an id keeps its slot, from 1
   */
  TurnOrder(long turnNanos) {
    this.turnNanos = turnNanos;
  }

  /** Returns the ids with a connected limiter, in the order of their turns. */
  List<LimiterGroup> of(Collection<LimiterGroup> ids, int slots, long nowNanos) {
    List<LimiterGroup> order = new ArrayList<>(ids.size());
    for (LimiterGroup id : ids) {
      if (id.active && nowNanos - id.activeNanos >= DEMAND_NANOS) {
        id.active = false;
        id.demand = 0;
      }
      if (id.present().findAny().isPresent()) {
        order.add(id);
      }
    }
    order.sort(FIRST);
    // Fewer slots than ids: after each turn, the ids that had a slot go to the end.
    if (slots < order.size() && (turns == 0 || nowNanos - turnBegan >= turnNanos)) {
      turnBegan = nowNanos;
      order.stream().filter(id -> id.aim > 0).forEach(id -> id.lastTurn = ++turns);
      order.sort(FIRST);
    }
    return order;
  }
}
