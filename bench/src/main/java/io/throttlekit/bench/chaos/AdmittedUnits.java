package io.throttlekit.bench.chaos;

import io.throttlekit.testkit.WindowTally;
import io.throttlekit.testkit.WindowTally.Window;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * What was admitted of one counter: by window, and in each region where it has one of its own.
 * Thread-safe.
 */
final class AdmittedUnits {
  private final Counter counter;
  private final CoordinatorClock clock;
  private final List<WindowTally> tallies = new ArrayList<>();

  /**
   * @param clock of the coordinator; the stores of regions have the clock of this host
   */
  AdmittedUnits(Counter counter, CoordinatorClock clock) {
    this.counter = counter;
    this.clock = clock;
    for (int region = 0; region < (counter.global() ? 1 : ChaosFleet.REGIONS); region++) {
      tallies.add(new WindowTally(counter.windowMillis(), ChaosFleet.PROCESSES));
    }
  }

  Counter counter() {
    return counter;
  }

  /** Counts one, sent and answered by the clock of this host. */
  void admitted(int process, long sentMillis, long answeredMillis) {
    if (counter.global()) {
      tallies
          .getFirst()
          .admitted(process, clock.earliest(sentMillis), clock.latest(answeredMillis));
    } else {
      tallies.get(ChaosFleet.regionOf(process)).admitted(process, sentMillis, answeredMillis);
    }
  }

  /**
   * Units beyond what windows that had not ended by then may have, by the counter and its region;
   * only those that have any. Each loss of its store allows a region one more limit in the windows
   * that it happened in, where the counter starts again after one.
   *
   * @param losses of stores, all of them
   * @param sinceMillis by the clock of this host; earlier ones are left out
   */
  Map<String, Long> overshoot(List<StoreLoss> losses, long sinceMillis) {
    Map<String, Long> byRegion = new TreeMap<>();
    for (int region = 0; region < tallies.size(); region++) {
      int there = region;
      long beyond =
          tallies
              .get(region)
              .overshoot(sinceMillis, end -> counter.limit() * (1 + losses(losses, there, end)));
      if (beyond > 0) {
        byRegion.put(
            counter.global() ? counter.key() : counter.key() + " of region " + region, beyond);
      }
    }
    return byRegion;
  }

  private long losses(List<StoreLoss> losses, int region, long windowEndMillis) {
    return counter.refills()
        ? losses.stream()
            .filter(each -> each.region() == region)
            .filter(each -> each.isIn(windowEndMillis, counter.windowMillis()))
            .count()
        : 0;
  }

  /** Windows of a counter that all regions share, in order. */
  List<Window> windows() {
    return tallies.getFirst().windows();
  }

  /** The part of the limit that was admitted in the whole windows from one time to another. */
  double utilization(long fromMillis, long toMillis) {
    return utilization(tallies.getFirst(), clock.latest(fromMillis), clock.earliest(toMillis));
  }

  /**
   * The same of a counter that each region has.
   *
   * @param region or a negative number for the mean of all
   */
  double utilization(int region, long fromMillis, long toMillis) {
    List<WindowTally> those = region < 0 ? tallies : List.of(tallies.get(region));
    return those.stream()
        .mapToDouble(each -> utilization(each, fromMillis, toMillis))
        .average()
        .orElse(Double.NaN);
  }

  private double utilization(WindowTally tally, long fromMillis, long toMillis) {
    long first = tally.endMillis(fromMillis) + counter.windowMillis();
    long last = tally.endMillis(toMillis) - counter.windowMillis();
    long windows = (last - first) / counter.windowMillis() + 1;
    return windows < 1
        ? Double.NaN
        : (double) tally.units(first, last) / (windows * counter.limit());
  }
}
