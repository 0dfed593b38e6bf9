package io.throttlekit.simulator.fleet;

import java.util.List;
import java.util.stream.IntStream;

/**
 * The nodes of a fleet, and how the requests are distributed among them.
 *
 * @param name in tables
 * @param weights of each node: the share of the requests that it receives, as a part of their sum
 */
record FleetShape(String name, List<Integer> weights) {
  /** The weights of a skewed fleet; with more nodes, as many have each. */
  private static final List<Integer> SKEWED = List.of(8, 4, 2, 1);

  /** Copies the weights. */
  FleetShape {
    weights = List.copyOf(weights);
  }

  /** Returns a fleet whose nodes receive equally many requests. */
  static FleetShape even(int nodes) {
    return new FleetShape(nodes + " even", IntStream.range(0, nodes).mapToObj(_ -> 1).toList());
  }

  /**
   * Returns a fleet whose nodes receive requests in the proportion of 8:4:2:1.
   *
   * @param nodes a multiple of four
   */
  static FleetShape skewed(int nodes) {
    return new FleetShape(
        nodes + " skewed",
        IntStream.range(0, nodes).mapToObj(i -> SKEWED.get(i % SKEWED.size())).toList());
  }

  /**
   * Returns the index of the node that receives a request.
   *
   * @param uniform from 0 to less than 1
   */
  int node(double uniform) {
    double rest = uniform * weights.stream().mapToInt(Integer::intValue).sum();
    int node = 0;
    while (rest >= weights.get(node)) {
      rest -= weights.get(node++);
    }
    return node;
  }
}
