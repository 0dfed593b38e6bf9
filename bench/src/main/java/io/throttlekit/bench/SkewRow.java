package io.throttlekit.bench;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * What some whole windows of one demand brought.
 *
 * @param skew 0 for the same in every region, 1 for all in one
 * @param each surely admitted in each of them
 * @param admitted in all of them, but for what was asked before the first or answered after the
 *     last
 * @param overshoot units beyond the limits of windows in a row, of whichever these are most
 * @param trips leases and returns that the coordinator answered meanwhile
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

  /** As it was published: for two windows. */
  double tripsOfTwoWindows() {
    return 2.0 * trips / windows();
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

  /** What was published of the same. */
  record Published(double skew, double utilization, long trips) {}
}
