package io.throttlekit.simulator.fairness;

import io.throttlekit.fairness.WeightedMaxMin;
import java.util.Arrays;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/** One scenario under one sharing: requests and admissions of each tenant over time. */
final class FairCourse {
  private static final int SLOTS_PER_WINDOW = 4;

  private final FairScenario scenario;
  private final Sharing sharing;

  /** By tenant, then quarter of a window. */
  private final long[][] asked;

  private final long[][] admitted;

  /** One request, and the demand that the next one of its tenant belongs to. */
  private record Arrival(double millis, int tenant, int demand) {}

  private FairCourse(FairScenario scenario, Sharing sharing) {
    this.scenario = scenario;
    this.sharing = sharing;
    int slots = scenario.windows() * SLOTS_PER_WINDOW;
    this.asked = new long[scenario.tenants().size()][slots];
    this.admitted = new long[scenario.tenants().size()][slots];
  }

  /** Plays a scenario; the same seed has the same requests whatever the sharing. */
  static FairCourse play(FairScenario scenario, Sharing sharing, long seed) {
    FairCourse course = new FairCourse(scenario, sharing);
    course.run(seed);
    return course;
  }

  private void run(long seed) {
    Sharing.Run run = sharing.start().apply(scenario);
    SplittableRandom random = new SplittableRandom(seed);
    SplittableRandom[] own = new SplittableRandom[asked.length]; // independent of refusals
    PriorityQueue<Arrival> queue = new PriorityQueue<>(Comparator.comparingDouble(Arrival::millis));
    for (int tenant = 0; tenant < own.length; tenant++) {
      own[tenant] = random.split();
      queue.add(next(tenant, 0, Double.NEGATIVE_INFINITY, own[tenant]));
    }
    long end = scenario.windows() * scenario.windowMillis();
    while (!queue.isEmpty()) {
      Arrival arrival = queue.remove();
      if (arrival.millis() >= end) {
        continue;
      }
      int tenant = arrival.tenant();
      int slot = (int) (arrival.millis() * SLOTS_PER_WINDOW / scenario.windowMillis());
      asked[tenant][slot]++;
      admitted[tenant][slot] += run.tryAcquire(tenant, (long) arrival.millis()) ? 1 : 0;
      queue.add(next(tenant, arrival.demand(), arrival.millis(), own[tenant]));
    }
  }

  private Arrival next(int tenant, int demand, double after, SplittableRandom random) {
    for (int i = demand; i < scenario.tenants().get(tenant).demands().size(); i++) {
      Demand at = scenario.tenants().get(tenant).demands().get(i);
      double pause = -Math.log(1 - random.nextDouble()) * 1_000 / at.perSecond();
      double millis = Math.max(after, (double) at.fromMillis()) + pause;
      if (millis < at.untilMillis()) {
        return new Arrival(millis, tenant, i);
      }
    }
    return new Arrival(Double.POSITIVE_INFINITY, tenant, 0);
  }

  FairScenario scenario() {
    return scenario;
  }

  Sharing sharing() {
    return sharing;
  }

  /** Returns the number of quarters of windows. */
  int slots() {
    return asked[0].length;
  }

  /**
   * Returns what a tenant was admitted in a quarter of a window, as a share of the limit per
   * window.
   */
  double admittedShare(int tenant, int slot) {
    return (double) admitted[tenant][slot] * SLOTS_PER_WINDOW / scenario.limit();
  }

  /** Returns what a tenant was admitted in a window. */
  long admitted(int tenant, int window) {
    return sum(admitted[tenant], window);
  }

  /** Returns the ideal division of a window, which knows all demands. */
  long[] ideal(int window) {
    return WeightedMaxMin.divide(asked(window), weights(), scenario.limit());
  }

  /** Returns the admitted share of what could have been admitted. */
  double utilization() {
    long all = 0;
    long possible = 0;
    for (int window = 0; window < scenario.windows(); window++) {
      for (int tenant = 0; tenant < asked.length; tenant++) {
        all += admitted(tenant, window);
      }
      possible += Math.min(scenario.limit(), Arrays.stream(asked(window)).sum());
    }
    return (double) all / possible;
  }

  /**
   * Returns the mean over all windows of Jain's index of what each tenant that asked was admitted,
   * as a share of its ideal: 1 if all have the same share, 1/n if one of n has everything.
   */
  double jain() {
    double sum = 0;
    for (int window = 0; window < scenario.windows(); window++) {
      long[] ideal = ideal(window);
      double shares = 0;
      double squares = 0;
      int count = 0;
      for (int tenant = 0; tenant < ideal.length; tenant++) {
        if (ideal[tenant] > 0) {
          double share = (double) admitted(tenant, window) / ideal[tenant];
          shares += share;
          squares += share * share;
          count++;
        }
      }
      sum += squares == 0 ? 1 : shares * shares / (count * squares);
    }
    return sum / scenario.windows();
  }

  /**
   * Returns the largest part of min(demand, guarantee) that a tenant was refused in a window, from
   * the second one on. The guarantee is that among the tenants that asked in this window or in the
   * one before.
   */
  double worstShortfall() {
    double worst = 0;
    long[] before = asked(0);
    for (int window = 1; window < scenario.windows(); window++) {
      long[] asked = asked(window);
      long all = 0;
      for (int tenant = 0; tenant < asked.length; tenant++) {
        all += asked[tenant] + before[tenant] > 0 ? weights()[tenant] : 0;
      }
      for (int tenant = 0; tenant < asked.length; tenant++) {
        if (asked[tenant] > 0) {
          long guarantee = WeightedMaxMin.guarantee(weights()[tenant], all, scenario.limit());
          double sure = (double) Math.min(asked[tenant], guarantee);
          worst = Math.max(worst, (sure - admitted(tenant, window)) / sure);
        }
      }
      before = asked;
    }
    return worst;
  }

  private long[] asked(int window) {
    return Arrays.stream(asked).mapToLong(slots -> sum(slots, window)).toArray();
  }

  private long[] weights() {
    return scenario.tenants().stream().mapToLong(TenantLoad::weight).toArray();
  }

  private static long sum(long[] slots, int window) {
    int from = window * SLOTS_PER_WINDOW;
    return Arrays.stream(slots, from, from + SLOTS_PER_WINDOW).sum();
  }
}
