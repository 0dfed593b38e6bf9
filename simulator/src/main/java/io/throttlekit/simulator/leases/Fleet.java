package io.throttlekit.simulator.leases;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/**
 * A fleet under one limit per window: its nodes receive their demands in turn, one unit each, and
 * spend what they have leased.
 *
 * @param limit units per window
 * @param coupled whether the rest of a lease is worth nothing in the next window
 * @param remembering whether a node that was granted less than it requested leases no more in that
 *     window, as our engine does; else it requests a lease for each further unit
 */
record Fleet(long limit, boolean coupled, boolean remembering) {

  /**
   * Result of a simulation.
   *
   * @param trips requests to the store, granted or not
   * @param overshoot the most units that a window admitted above the limit
   * @param utilization ratio of admitted units to the lesser of demand and limit: the mean over all
   *     windows
   */
  record Outcome(long trips, long overshoot, double utilization) {}

  /** State of one node. */
  private static final class Node {
    private final Learner learner;
    private final long[] demands;
    private long credits;
    private long offered;
    private boolean exhausted;

    private Node(Learner learner, long[] demands) {
      this.learner = learner;
      this.demands = demands;
    }
  }

  /** Effects of one window on the store. */
  private static final class Window {
    private long left;
    private long trips;
    private long admitted;
    private long offered;

    private Window(long limit) {
      this.left = limit;
    }
  }

  /** Simulates all windows of the demands. */
  Outcome play(List<long[]> demands, Supplier<Learner> learners) {
    List<Node> nodes = new ArrayList<>();
    demands.forEach(of -> nodes.add(new Node(learners.get(), of)));
    int windows = demands.getFirst().length;
    long trips = 0;
    long overshoot = 0;
    double utilization = 0;
    for (int i = 0; i < windows; i++) {
      Window window = play(nodes, i);
      trips += window.trips;
      overshoot = Math.max(overshoot, window.admitted - limit);
      utilization += ratio(window.admitted, Math.min(window.offered, limit));
    }
    return new Outcome(trips, overshoot, utilization / windows);
  }

  /**
   * Simulates a static division: every node keeps its share of the limit without requests to the
   * store.
   */
  Outcome playSharedOut(List<long[]> demands) {
    int windows = demands.getFirst().length;
    double utilization = 0;
    for (int i = 0; i < windows; i++) {
      long admitted = 0;
      long offered = 0;
      for (long[] node : demands) {
        admitted += Math.min(node[i], limit / demands.size());
        offered += node[i];
      }
      utilization += ratio(admitted, Math.min(offered, limit));
    }
    return new Outcome(0, 0, utilization / windows);
  }

  private Window play(List<Node> nodes, int at) {
    Window window = new Window(limit);
    for (Node node : nodes) {
      node.credits = coupled ? 0 : node.credits;
      node.offered = 0;
      node.exhausted = false;
    }
    for (boolean any = true; any; ) {
      any = false;
      for (Node node : nodes) {
        if (node.offered < node.demands[at]) {
          offer(node, window);
          any = true;
        }
      }
    }
    nodes.forEach(node -> node.learner.observe(node.demands[at]));
    return window;
  }

  private void offer(Node node, Window window) {
    if (node.credits == 0 && !(remembering && node.exhausted)) {
      lease(node, window);
    }
    node.offered++;
    window.offered++;
    if (node.credits > 0) {
      node.credits--;
      window.admitted++;
    }
  }

  private void lease(Node node, Window window) {
    long wanted = node.learner.size(node.offered);
    long granted = Math.min(wanted, window.left);
    window.trips++;
    window.left -= granted;
    node.credits += granted;
    node.exhausted = granted < wanted;
  }

  private static double ratio(long admitted, long possible) {
    return possible == 0 ? 1 : (double) admitted / possible;
  }
}
