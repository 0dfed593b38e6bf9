package io.throttlekit.bench;

import java.util.Locale;

/**
 * What some whole windows of one demand brought.
 *
 * @param skew 0 for the same in every region, 1 for all in one
 * @param windows how many
 * @param admitted in all of them, but for what was asked before the first or answered after the
 *     last
 * @param overshoot units beyond the limits of windows in a row, of whichever these are most
 * @param trips leases and returns that the coordinator answered meanwhile
 * @param failed requests without an answer
 */
record SkewRow(
    double skew, int windows, long admitted, long overshoot, long trips, long failed, long limit) {

  double utilization() {
    return (double) admitted / (windows * limit);
  }

  /** As it was published: for two windows. */
  double tripsOfTwoWindows() {
    return 2.0 * trips / windows;
  }

  /** What a budget that is divided once and for all would admit. */
  double staticUtilization(int regions) {
    double hot = share(0, skew, regions);
    double cold = share(1, skew, regions);
    double part = 1.0 / regions;
    return Math.min(hot, part) + (regions - 1) * Math.min(cold, part);
  }

  /** The part of all requests that one region has; region 0 is the busy one. */
  static double share(int region, double skew, int regions) {
    double hot = 1.0 / regions + skew * (1 - 1.0 / regions);
    return region == 0 ? hot : (1 - hot) / (regions - 1);
  }

  /** A row of a Markdown table. */
  String row(int regions, Published published) {
    return String.format(
        Locale.ROOT,
        "| %.2f | %d of %d | %.3f | %.3f | %.3f | %d | %.1f | %d |",
        skew,
        admitted,
        windows * limit,
        utilization(),
        published.utilization(),
        staticUtilization(regions),
        overshoot,
        tripsOfTwoWindows(),
        published.trips());
  }

  /** What was published of the same. */
  record Published(double skew, double utilization, long trips) {}
}
