package io.throttlekit.simulator.leases;

import io.throttlekit.lease.sizing.LeaseCost;
import io.throttlekit.lease.sizing.LeaseSize;
import io.throttlekit.lease.sizing.LeaseSizer;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * One way of sharing a limit, on the fleet of one busy node and four quiet ones.
 *
 * @param policy its name
 * @param published trips, overshoot and utilization as published; empty when they were not
 * @param found the same here, as published: a node requests a lease from an exhausted store for
 *     each unit
 * @param tripsRemembering trips when a node requests from an exhausted store once per window, as
 *     our engine does; other figures do not change
 */
record PolicyRow(String policy, String published, Fleet.Outcome found, long tripsRemembering) {
  static final long LIMIT = 100;
  static final int WINDOWS = 500;

  // The published costs of a round trip, and of a stranded unit.
  private static final double ROUND_TRIP = 20;
  private static final int[] STRANDING = {1, 5, 10, 20};

  /** Returns the published policies, re-created, then ours. */
  static List<PolicyRow> all() {
    List<PolicyRow> rows = new ArrayList<>();
    Fleet.Outcome sharedOut = new Fleet(LIMIT, true, false).playSharedOut(demands());
    rows.add(play("strict", "51,186, 0, 1.000", true, () -> Learner.fixed(1)));
    rows.add(new PolicyRow("a fifth each, no leases", "0, 0, 0.446", sharedOut, 0));
    rows.add(play("carry-over, 5", "14,444, 10, 1.003", false, () -> Learner.fixed(5)));
    rows.add(play("carry-over, 10", "9,669, 28, 1.007", false, () -> Learner.fixed(10)));
    rows.add(play("carry-over, 20", "7,310, 38, 1.007", false, () -> Learner.fixed(20)));
    rows.add(play("coupled, 5", "17,178, 0, 0.955", true, () -> Learner.fixed(5)));
    rows.add(play("coupled, 10", "17,039, 0, 0.864", true, () -> Learner.fixed(10)));
    rows.add(play("coupled, 20", "33,702, 0, 0.446", true, () -> Learner.fixed(20)));
    for (int stranding : STRANDING) {
      LeaseCost cost = new LeaseCost(ROUND_TRIP, stranding);
      String known = stranding == 10 ? "12,731, 0, 0.962" : "";
      rows.add(play("GALE, h = " + stranding, known, true, () -> new PublishedEoq(cost)));
    }
    for (int stranding : STRANDING) {
      LeaseCost cost = new LeaseCost(ROUND_TRIP, stranding);
      rows.add(play("adaptive, h = " + stranding, "", true, () -> Learner.eoq(cost, LIMIT)));
    }
    rows.add(play("adaptive by default", "", true, PolicyRow::adaptive));
    rows.add(play("predictive by default", "", true, PolicyRow::predictive));
    return rows;
  }

  /** Returns a row of a Markdown table. */
  String row() {
    return String.format(
        Locale.ROOT,
        "| %s | %s | %,d, %d, %.3f | %,d |%n",
        policy,
        published.isEmpty() ? "–" : published,
        found.trips(),
        found.overshoot(),
        found.utilization(),
        tripsRemembering);
  }

  /** Returns a JSON object. */
  String json() {
    return String.format(
        Locale.ROOT,
        "{\"policy\":\"%s\",\"published\":\"%s\",\"trips\":%d,\"overshoot\":%d,"
            + "\"utilization\":%.4f,\"trips_remembering\":%d}",
        policy,
        published,
        found.trips(),
        found.overshoot(),
        found.utilization(),
        tripsRemembering);
  }

  private static PolicyRow play(
      String policy, String published, boolean coupled, Supplier<Learner> learners) {
    Fleet.Outcome found = new Fleet(LIMIT, coupled, false).play(demands(), learners);
    Fleet.Outcome remembering = new Fleet(LIMIT, coupled, true).play(demands(), learners);
    return new PolicyRow(policy, published, found, remembering.trips());
  }

  private static Learner adaptive() {
    return Learner.of(LeaseSizer.of(new LeaseSize.Adaptive(), LIMIT), LIMIT);
  }

  private static Learner predictive() {
    return Learner.of(LeaseSizer.of(new LeaseSize.Predictive(), LIMIT), LIMIT);
  }

  private static List<long[]> demands() {
    return Demands.hotNode(WINDOWS);
  }
}
