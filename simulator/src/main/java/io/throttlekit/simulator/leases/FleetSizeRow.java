package io.throttlekit.simulator.leases;

import io.throttlekit.lease.sizing.LeaseCost;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Overshoot of a window as the fleet grows: equal nodes, in leases of 10.
 *
 * @param published the most above the limit with carry-over, as published
 * @param carryOver the same here
 * @param coupled with leases that end with their window, of the same size
 * @param adaptive with leases of the sizes that the engine learns
 */
record FleetSizeRow(int nodes, long published, long carryOver, long coupled, long adaptive) {
  private static final long LIMIT = 100;
  private static final int WINDOWS = 200;
  private static final int[] NODES = {2, 4, 8, 16};
  private static final long[] PUBLISHED = {15, 19, 24, 25};

  /** Returns rows for larger and larger fleets. */
  static List<FleetSizeRow> all() {
    return IntStream.range(0, NODES.length).mapToObj(i -> of(NODES[i], PUBLISHED[i])).toList();
  }

  /** Returns a row of a Markdown table. */
  String row() {
    return String.format(
        Locale.ROOT,
        "| %d | %d | %d | %d | %d |%n",
        nodes,
        published,
        carryOver,
        coupled,
        adaptive);
  }

  /** Returns a JSON object. */
  String json() {
    return String.format(
        Locale.ROOT,
        "{\"nodes\":%d,\"published\":%d,\"carry_over\":%d,\"coupled\":%d,\"adaptive\":%d}",
        nodes,
        published,
        carryOver,
        coupled,
        adaptive);
  }

  private static FleetSizeRow of(int nodes, long published) {
    List<long[]> demands = Demands.alike(nodes, WINDOWS);
    Fleet carrying = new Fleet(LIMIT, false, false);
    Fleet coupled = new Fleet(LIMIT, true, false);
    return new FleetSizeRow(
        nodes,
        published,
        carrying.play(demands, () -> Learner.fixed(10)).overshoot(),
        coupled.play(demands, () -> Learner.fixed(10)).overshoot(),
        coupled.play(demands, () -> Learner.eoq(LeaseCost.DEFAULT, LIMIT)).overshoot());
  }
}
