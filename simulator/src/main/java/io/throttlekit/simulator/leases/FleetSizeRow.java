package io.throttlekit.simulator.leases;

import io.throttlekit.tier.LeaseCost;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * How much more than the limit a window admits as the fleet grows: nodes alike, in leases of 10.
 *
 * @param published the most above the limit with carry-over, as published
 * @param carryOver the same here
 * @param coupled with leases that end with their window, of the same size
 * @param adaptive with those of the sizes that the engine learns
 */
record FleetSizeRow(int nodes, long published, long carryOver, long coupled, long adaptive) {
  private static final long LIMIT = 100;
  private static final int WINDOWS = 200;
  private static final int[] NODES = {2, 4, 8, 16};
  private static final long[] PUBLISHED = {15, 19, 24, 25};

  /** For ever larger fleets. */
  static List<FleetSizeRow> all() {
    return IntStream.range(0, NODES.length).mapToObj(i -> of(NODES[i], PUBLISHED[i])).toList();
  }

  /** A row of a Markdown table. */
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

  /** A JSON object. */
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
