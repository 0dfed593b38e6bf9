package io.throttlekit.simulator.fairness;

import io.throttlekit.fairness.WeightedMaxMin;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/** One scenario under one sharing: requests and admissions of each tenant over time. */
final class FairCourse {
  private final FairScenario scenario;
  private final Sharing sharing;

  /** By tenant, then window. */
  private final long[][] asked;

  private final long[][] admitted;

  private int reservedWindows;
  private long calls;

  /** One request, and the demand that the next one of its tenant belongs to. */
  private record Arrival(double millis, int tenant, int demand) {}

  /**
   * What a tenant is sure of in a window, and what it had.
   *
   * @param sure min(demand, guarantee)
   */
  private record Guarantee(long sure, long had) {
    long missing() {
      return Math.max(0, sure - had);
    }
  }

  private FairCourse(FairScenario scenario, Sharing sharing) {
    this.scenario = scenario;
    this.sharing = sharing;
    this.asked = new long[scenario.tenants().size()][scenario.windows()];
    this.admitted = new long[scenario.tenants().size()][scenario.windows()];
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
      asked[tenant][(int) (arrival.millis() / scenario.windowMillis())]++;
      run.request(tenant, arrival.millis(), millis -> admit(tenant, millis));
      queue.add(next(tenant, arrival.demand(), arrival.millis(), own[tenant]));
    }
    reservedWindows = run.reservedWindows();
    calls = run.calls();
  }

  private void admit(int tenant, long millis) {
    int window = (int) (millis / scenario.windowMillis());
    if (window < scenario.windows()) { // a request that waits may be admitted after the end
      admitted[tenant][window]++;
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

  /** Returns the calls of a store or coordinator for each request. */
  double callsPerRequest() {
    return (double) calls / Arrays.stream(asked).flatMapToLong(Arrays::stream).sum();
  }

  /** Returns what a tenant was admitted in a window. */
  long admitted(int tenant, int window) {
    return admitted[tenant][window];
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
   * the second one on. The guarantee is that among the tenants that asked in this window or have a
   * reserve in it.
   */
  double worstShortfall() {
    return guarantees().stream()
        .mapToDouble(each -> (double) each.missing() / each.sure())
        .max()
        .orElse(0);
  }

  /** Returns the most units of min(demand, guarantee) that a tenant was refused in a window. */
  long worstMissing() {
    return guarantees().stream().mapToLong(Guarantee::missing).max().orElse(0);
  }

  /** Returns the guarantee of each tenant in each window from the second on, if it asked. */
  private List<Guarantee> guarantees() {
    List<Guarantee> guarantees = new ArrayList<>();
    for (int window = 1; window < scenario.windows(); window++) {
      long[] asked = asked(window);
      long all = activeWeights(window);
      for (int tenant = 0; tenant < asked.length; tenant++) {
        if (asked[tenant] > 0) {
          long guarantee = WeightedMaxMin.guarantee(weights()[tenant], all, scenario.limit());
          guarantees.add(
              new Guarantee(Math.min(asked[tenant], guarantee), admitted(tenant, window)));
        }
      }
    }
    return guarantees;
  }

  private long activeWeights(int window) {
    int from = Math.max(0, window - reservedWindows);
    long all = 0;
    for (int tenant = 0; tenant < asked.length; tenant++) {
      long requests = Arrays.stream(asked[tenant], from, window + 1).sum();
      all += requests > 0 ? weights()[tenant] : 0;
    }
    return all;
  }

  private long[] asked(int window) {
    return Arrays.stream(asked).mapToLong(windows -> windows[window]).toArray();
  }

  private long[] weights() {
    return scenario.tenants().stream().mapToLong(TenantLoad::weight).toArray();
  }
}
