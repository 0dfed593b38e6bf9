package io.throttlekit.simulator.leases;

import java.util.ArrayList;
import java.util.List;

/** Demand of nodes, window by window. */
final class Demands {
  private Demands() {}

  /**
   * Returns the nearly normal demand of one node.
   *
   * @param deviation as a part of the mean
   */
  static long[] normal(int seed, double mean, double deviation, int windows) {
    Mulberry32 random = new Mulberry32(seed);
    long[] demands = new long[windows];
    for (int window = 0; window < windows; window++) {
      demands[window] = Math.max(0, Math.round(mean * (1 + deviation * random.normal())));
    }
    return demands;
  }

  /**
   * Returns the fleet of workload A: one busy node and four quiet ones, together at the limit of
   * 100.
   */
  static List<long[]> hotNode(int windows) {
    List<long[]> nodes = new ArrayList<>();
    int[] means = {80, 5, 5, 5, 5};
    for (int node = 0; node < means.length; node++) {
      nodes.add(normal(500 + node, means[node], 0.3, windows)); // the published seeds
    }
    return nodes;
  }

  /**
   * Returns the fleet of workload B: equal nodes, together at one and a half times the limit of
   * 100.
   */
  static List<long[]> alike(int nodes, int windows) {
    List<long[]> fleet = new ArrayList<>();
    for (int node = 0; node < nodes; node++) {
      fleet.add(normal(700 + node, Math.ceilDiv(150, nodes), 0.4, windows)); // the published seeds
    }
    return fleet;
  }
}
