package io.throttlekit.bench.federation;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * Result of several whole windows of one demand.
 *
 * @param skew 0 for equal load in every region, 1 for all load in one
 * @param each units surely admitted in each window
 * @param admitted units admitted in all of them, except requests sent before the first or answered
 *     after the last
 * @param overshoot units beyond the limits of consecutive windows, the largest number of all
 *     sequences
 * @param trips leases and returns that the coordinator answered in this time
 * @param failed requests without an answer
 */
record SkewRow(
    double skew,
    List<Long> each,
    long admitted,
    long overshoot,
    long trips,
    long failed,
    long limit) {

  SkewRow {
    each = List.copyOf(each);
  }

  int windows() {
    return each.size();
  }

  double utilization() {
    return (double) admitted / (windows() * limit);
  }

  /** Returns trips per two windows, the published unit. */
  double tripsOfTwoWindows() {
    return 2.0 * trips / windows();
  }

  /** Returns the utilization of a budget that is divided equally and statically. */
  double staticUtilization(int regions) {
    double hot = share(0, skew, regions);
    double cold = share(1, skew, regions);
    double part = 1.0 / regions;
    return Math.min(hot, part) + (regions - 1) * Math.min(cold, part);
  }

  /** Returns one region's share of all requests; region 0 is the busy one. */
  static double share(int region, double skew, int regions) {
    double hot = 1.0 / regions + skew * (1 - 1.0 / regions);
    return region == 0 ? hot : (1 - hot) / (regions - 1);
  }

  /** Returns a row of a Markdown table. */
  String row(int regions, PublishedSkew published) {
    return String.format(
        Locale.ROOT,
        "| %.2f | %d of %d (%s) | %.3f | %.3f | %.3f | %d | %.1f | %d |",
        skew,
        admitted,
        windows() * limit,
        each.stream().map(String::valueOf).collect(Collectors.joining(", ")),
        utilization(),
        published.utilization(),
        staticUtilization(regions),
        overshoot,
        tripsOfTwoWindows(),
        published.trips());
  }

  /** Published figures for one skew. */
  record PublishedSkew(double skew, double utilization, long trips) {}
}
