package io.throttlekit.bench.chaos.traffic;

import io.throttlekit.bench.chaos.fleet.CoordinatorClock;
import io.throttlekit.bench.chaos.fleet.Counters;
import io.throttlekit.bench.chaos.fleet.StoreLoss;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.ToLongFunction;

/**
 * Units that a fleet has admitted of each counter, from its start to its end: a window that does
 * not end has one limit for all loads of the fleet. Thread-safe.
 */
public final class Admissions {
  private final List<AdmittedUnits> counters;

  /**
   * Creates empty tallies for the counters of {@link Counters#ALL}.
   *
   * @param clock of the coordinator
   */
  public Admissions(CoordinatorClock clock) {
    this(Counters.ALL.stream().map(each -> new AdmittedUnits(each, clock)).toList());
  }

  public Admissions(List<AdmittedUnits> counters) {
    this.counters = List.copyOf(counters);
  }

  /** Returns the tally of one counter, by its place in {@link Counters#ALL}. */
  AdmittedUnits of(int counter) {
    return counters.get(counter);
  }

  /** Returns the tally of the counter that all regions share, in windows that end. */
  public AdmittedUnits shared() {
    return counters.getFirst();
  }

  /**
   * Returns units beyond the limits of windows that had not ended at a time, by the counter and its
   * region; only those that have any.
   *
   * @param losses all losses of stores
   */
  public Map<String, Long> overshoot(List<StoreLoss> losses, long sinceMillis) {
    Map<String, Long> all = new TreeMap<>();
    counters.forEach(each -> all.putAll(each.overshoot(losses, sinceMillis)));
    return all;
  }

  /** Returns units beyond limits, of all counters. */
  private long overshootUnits(List<StoreLoss> losses, long sinceMillis) {
    return overshoot(losses, sinceMillis).values().stream().mapToLong(Long::longValue).sum();
  }

  /**
   * Starts to count units beyond limits, of all counters, without those that are beyond them
   * already. Windows that have not ended yet are counted whole.
   *
   * @param losses all losses of stores up to now
   * @return a function from all losses of stores up to a later time to the number at that time
   */
  public ToLongFunction<List<StoreLoss>> overshootSince(List<StoreLoss> losses, long nowMillis) {
    long before = overshootUnits(losses, nowMillis);
    return later -> overshootUnits(later, nowMillis) - before;
  }

  /**
   * Returns the share of its own limits that a region, or each on average, admitted in whole
   * windows.
   *
   * @param region or a negative number for all
   */
  public double regionalUtilization(int region, long fromMillis, long toMillis) {
    return counters.stream()
        .filter(each -> !each.counter().global())
        .mapToDouble(each -> each.utilization(region, fromMillis, toMillis))
        .average()
        .orElse(Double.NaN);
  }
}
