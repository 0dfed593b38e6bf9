package io.throttlekit.simulator.leases;

import io.throttlekit.lease.sizing.LeaseCost;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;

/**
 * Regret per window of one node alone.
 *
 * @param windows number of windows
 * @param published regret as published
 * @param recreated the same here
 * @param ours regret of the engine's learner
 * @param recreatedWhole the published learner's, in whole round trips and stranded units
 * @param oursWhole the engine's, likewise
 */
record RegretRow(
    int windows,
    double published,
    double recreated,
    double ours,
    double recreatedWhole,
    double oursWhole) {
  private static final LeaseCost COST = new LeaseCost(20, 1);
  private static final long LIMIT = 1_000;
  private static final int[] WINDOWS = {100, 400, 1_600, 6_400};
  private static final double[] PUBLISHED = {18.56, 4.74, 1.28, 0.40};

  /** Returns rows for more and more windows of the same demand. */
  static List<RegretRow> all() {
    return IntStream.range(0, WINDOWS.length).mapToObj(i -> of(WINDOWS[i], PUBLISHED[i])).toList();
  }

  /** Returns a row of a Markdown table. */
  String row() {
    return String.format(
        Locale.ROOT,
        "| %,d | %.2f | %.2f | %.2f | %.2f | %.2f |%n",
        windows,
        published,
        recreated,
        ours,
        recreatedWhole,
        oursWhole);
  }

  /** Returns a JSON object. */
  String json() {
    return String.format(
        Locale.ROOT,
        "{\"windows\":%d,\"published\":%.2f,\"recreated\":%.4f,\"ours\":%.4f,"
            + "\"recreated_whole\":%.4f,\"ours_whole\":%.4f}",
        windows,
        published,
        recreated,
        ours,
        recreatedWhole,
        oursWhole);
  }

  private static RegretRow of(int windows, double published) {
    long[] demands = Demands.normal(7, 100, 0.3, windows);
    Regret.WindowCost smooth = Regret.smooth(COST);
    Regret.WindowCost whole = Regret.whole(COST);
    return new RegretRow(
        windows,
        published,
        Regret.perWindow(new PublishedEoq(COST), demands, smooth),
        Regret.perWindow(Learner.eoq(COST, LIMIT), demands, smooth),
        Regret.perWindow(new PublishedEoq(COST), demands, whole),
        Regret.perWindow(Learner.eoq(COST, LIMIT), demands, whole));
  }
}
