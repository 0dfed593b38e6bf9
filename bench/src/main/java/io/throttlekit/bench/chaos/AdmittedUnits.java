package io.throttlekit.bench.chaos;

import io.throttlekit.rate.WindowTally;
import io.throttlekit.rate.WindowTally.Window;
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
   * Units beyond what any windows may have, by the counter and its region; only those that have
   * any.
   *
   * @param losses how often each region's store lost data
   */
  Map<String, Long> overshoot(int[] losses) {
    Map<String, Long> byRegion = new TreeMap<>();
    for (int region = 0; region < tallies.size(); region++) {
      long allowed = counter.refills() ? counter.limit() * losses[region] : 0;
      long beyond = tallies.get(region).overshoot(counter.limit()) - allowed;
      if (beyond > 0) {
        byRegion.put(
            counter.global() ? counter.key() : counter.key() + " of region " + region, beyond);
      }
    }
    return byRegion;
  }

  /** Windows of a counter that all regions share, in order. */
  List<Window> windows() {
    return tallies.getFirst().windows();
  }

  /** The part of the limit that was admitted in the whole windows from one time to another. */
  double utilization(long fromMillis, long toMillis) {
    WindowTally tally = tallies.getFirst();
    long first = tally.endMillis(clock.latest(fromMillis)) + counter.windowMillis();
    long last = tally.endMillis(clock.earliest(toMillis)) - counter.windowMillis();
    long windows = (last - first) / counter.windowMillis() + 1;
    return windows < 1
        ? Double.NaN
        : (double) tally.units(first, last) / (windows * counter.limit());
  }
}
