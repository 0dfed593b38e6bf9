package io.throttlekit.bench.chaos.traffic;

import io.throttlekit.bench.chaos.fleet.ChaosFleet;
import io.throttlekit.bench.chaos.fleet.CoordinatorClock;
import io.throttlekit.bench.chaos.fleet.Counter;
import io.throttlekit.bench.chaos.fleet.StoreLoss;
import io.throttlekit.testkit.WindowTally;
import io.throttlekit.testkit.WindowTally.Window;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Admitted units of one counter, by window, and by region where each region has one of its own.
 * Thread-safe.
 */
public final class AdmittedUnits {
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

  public Counter counter() {
    return counter;
  }

  /** Counts one unit, sent and answered by the clock of this host. */
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
   * Returns units beyond the limits of windows that had not ended at a time, by the counter and its
   * region; only those that have any. Where the counter starts again after a loss of its store,
   * each loss allows a region one more limit in the windows in which it happened.
   *
   * @param losses all losses of stores
   * @param sinceMillis by the clock of this host; windows that ended earlier are left out
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

  /** Returns the windows of a counter that all regions share, in order. */
  public List<Window> windows() {
    return tallies.getFirst().windows();
  }

  /** Returns the admitted share of the limit in the whole windows between two times. */
  public double utilization(long fromMillis, long toMillis) {
    return utilization(tallies.getFirst(), clock.latest(fromMillis), clock.earliest(toMillis));
  }

  /**
   * Returns the same for a counter that each region has.
   *
   * @param region or a negative number for the mean of all
   */
  public double utilization(int region, long fromMillis, long toMillis) {
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
