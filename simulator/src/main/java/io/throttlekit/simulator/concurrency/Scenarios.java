package io.throttlekit.simulator.concurrency;

import static io.throttlekit.simulator.concurrency.Target.atLeast;
import static io.throttlekit.simulator.concurrency.Target.atMost;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** All scenarios, with the targets T1 to T12. Loads are multiples of 1,000 requests a second. */
public final class Scenarios {
  private static final double MEAN = Plan.MEAN_MILLIS;
  private static final int WARM = 60; // seconds before the load changes
  private static final double SERVERS = Plan.SERVERS;

  private Scenarios() {}

  /** Returns all scenarios in the order of their targets. */
  public static List<Scenario> all() {
    return Stream.of(steps(), capacities(), drifts(), others(), logged(), small(), large(), noisy())
        .flatMap(List::stream)
        .toList();
  }

  private static List<Scenario> steps() {
    return List.of(
        of(
            "step-1.2",
            "0.5, then 1.2 times the capacity",
            step(1.2),
            atLeast("T1", 0.95, "goodput at 1.2×", run -> run.goodput(120, 180))),
        of(
            "step-2",
            "0.5, then 2 times the capacity",
            step(2),
            atLeast("T1", 0.98, "goodput at 2×", run -> run.goodput(120, 180)),
            atMost("T2", 4 * MEAN, "p99 at 2×, ms", run -> run.latency(0.99, 120, 180)),
            atMost("T10", 0.1, "deviation of the limit at 2×", run -> wobble(run, 120, 180))),
        of(
            "step-5",
            "0.5, then 5 times the capacity",
            step(5),
            atLeast("T1", 0.97, "goodput at 5×", run -> run.goodput(120, 180)),
            atLeast("T3", 0.95, "goodput, first 10 s of 5×", run -> run.goodput(60, 70)),
            atMost("T3", 3 * SERVERS, "most in flight", run -> run.maxInFlight(60, 70)),
            atMost("T3", 6 * MEAN, "p99, first 10 s of 5×, ms", run -> run.latency(0.99, 60, 70)),
            atMost("T10", 0.1, "deviation of the limit at 5×", run -> wobble(run, 120, 180))));
  }

  private static List<Scenario> capacities() {
    return List.of(
        of(
            "capacity-halved",
            "2,000 a second; 10 of 20 servers from 60 s to 120 s",
            Plan.empty().then(WARM, 2).then(60, 2, 10, MEAN, Plan.VARIATION).then(60, 2),
            atMost("T4", 0.3, "limit off its plateau after 12 s", Scenarios::offPlateau),
            atLeast("T4", 0.95, "goodput at half, after 12 s", run -> run.goodput(72, 120)),
            atLeast("T5", 0.95, "goodput restored, after 12 s", run -> run.goodput(132, 180)),
            atLeast("T5", 1, "least limit since restored, of that then", Scenarios::dip)),
        of(
            "capacity-tenth",
            "2,000 a second; 2 of 20 servers from 60 s to 120 s",
            Plan.empty().then(WARM, 2).then(60, 2, 2, MEAN, Plan.VARIATION).then(60, 2),
            atLeast("T4", 0.9, "goodput at a tenth, after 20 s", run -> run.goodput(80, 120)),
            atLeast("T5", 0.95, "goodput restored, after 12 s", run -> run.goodput(132, 180))));
  }

  private static List<Scenario> drifts() {
    return Stream.of(1.2, 2.0)
        .map(load ->
            of(
                "drift-" + load,
                "half an hour at " + load + " times the capacity",
                Plan.empty().then(1_800, load),
                atMost("T6", 0.25, "drift in 27 min at " + load + "×", Scenarios::drift),
                atLeast(
                    "T6", 0.95, "worst minute's goodput at " + load + "×", Scenarios::worstMinute)))
        .toList();
  }

  private static List<Scenario> others() {
    return List.of(
        of(
            "slower",
            "600 a second; three times the service time from 60 s to 120 s",
            Plan.empty()
                .then(WARM, 0.6)
                .then(60, 0.6, Plan.SERVERS, 3 * MEAN, Plan.VARIATION)
                .then(60, 0.6),
            atLeast("T7", 0.95, "goodput at a third, after 30 s", run -> run.goodput(90, 120))),
        calm("0.8, variation 0", 0.8, 0, 0),
        calm("0.8, variation 0.5", 0.8, 0.5, 0),
        calm("0.8, variation 1", 0.8, 1, 0.001),
        calm("0.95, variation 0.5", 0.95, 0.5, 0.04),
        of(
            "idle",
            "ten minutes at 0.05, then 2 times the capacity",
            Plan.empty().then(600, 0.05).then(60, 2),
            atLeast("T9", 0.8, "goodput, first 10 s after idling", run -> run.goodput(600, 610)),
            atMost("T9", 4 * MEAN, "p99 of these, ms", run -> run.latency(0.99, 600, 610)),
            atLeast("T9", 0.98, "goodput from 30 s on", run -> run.goodput(630, 660))));
  }

  private static List<Scenario> logged() {
    return List.of(
        logged(1.2, atLeast("T11", 0.94, "goodput at 1.2×, logged", run -> run.goodput(120, 180))),
        logged(2, atLeast("T11", 0.97, "goodput at 2×, logged", run -> run.goodput(120, 180))),
        logged(
            5,
            atLeast("T11", 0.96, "goodput at 5×, logged", run -> run.goodput(120, 180)),
            atLeast("T3", 0.85, "first 10 s of 5×, logged", run -> run.goodput(60, 70))));
  }

  /**
   * Returns the upstream of {@code bin/demo --overload}: ten servers, 80 ms, 125 requests a second.
   */
  private static List<Scenario> small() {
    return Stream.of(2, 5)
        .map(load ->
            new Scenario(
                "small-" + load,
                "10 servers of 80 ms: 0.8, then "
                    + load
                    + " times their capacity, by the access log",
                Plan.empty()
                    .then(WARM, 0.1, 10, 80, Plan.VARIATION)
                    .then(120, 0.125 * load, 10, 80, Plan.VARIATION),
                true,
                List.of(
                    atLeast(
                        "T11", 0.95, "goodput at " + load + "×, small, logged", Scenarios::last),
                    atMost("T11", 5 * 80, "p99 of these, ms", run -> run.latency(0.99, 120, 180)))))
        .toList();
  }

  /**
   * Returns scenarios with service times that vary as in a backend with a cache: a few samples
   * reveal little.
   */
  private static List<Scenario> large() {
    return List.of(
        new Scenario(
            "large-2",
            "200 servers of 20 ms, deviation of the mean: 0.6, then 2 times their capacity, by the"
                + " access log",
            Plan.empty().then(30, 6, 200, MEAN, 1).then(100, 20, 200, MEAN, 1),
            true,
            List.of(
                atLeast(
                    "T11", 0.95, "goodput at 2×, large, logged", run -> run.goodput(60, 130)))));
  }

  /**
   * Returns a machine that is too busy, below the capacity of the small backend: latency noise must
   * not lower the limit.
   */
  private static List<Scenario> noisy() {
    Conditions calm = Conditions.NONE;
    return List.of(
        noisy("pauses", "pauses of 0.2 s", calm.pauses(new Interruptions(4, 0.2, 2)), false),
        noisy("pauses", "pauses of 0.2 s", calm.pauses(new Interruptions(4, 0.2, 2)), true),
        noisy("stalls", "stalls of 0.2 s", calm.stalls(new Interruptions(4, 0.2, 2)), true),
        noisy("bursts", "a busy neighbour", calm.slowness(Slowness.bursts(1.4, 0.3, 3)), true),
        noisy("jitter", "a jittery network", calm.wire(20, Lengths.pareto(1.5, 40)), true));
  }

  private static Scenario noisy(String name, String what, Conditions conditions, boolean logged) {
    String sensor = logged ? ", logged" : "";
    return new Scenario(
        "noisy-" + name + (logged ? "-logged" : ""),
        "10 servers of 80 ms at 0.8 times their capacity, with " + what + sensor,
        Plan.empty().then(180, 0.1, 10, 80, Plan.VARIATION).under(conditions),
        logged,
        List.of(
            atMost("T12", 0.002, "refused at 0.8, " + what + sensor, run -> run.refused(30, 180))));
  }

  private static double last(Course run) {
    return run.goodput(120, 180);
  }

  private static Scenario calm(String name, double load, double variation, double bound) {
    Plan plan =
        Plan.empty()
            .then(WARM, 0.5, Plan.SERVERS, MEAN, variation)
            .then(120, load, Plan.SERVERS, MEAN, variation);
    return of(
        "calm-" + name.replace(", variation ", "-"),
        "0.5, then " + name,
        plan,
        atMost("T8", bound, "refused at " + name, run -> run.refused(WARM, 180)));
  }

  private static Scenario logged(double load, Target... targets) {
    String times = Target.shown(load).replaceFirst("\\.?0+$", "");
    return new Scenario(
        "logged-" + times,
        "0.5, then " + times + " times the capacity, by the access log",
        step(load),
        true,
        List.of(targets));
  }

  private static Plan step(double load) {
    return Plan.empty().then(WARM, 0.5).then(120, load);
  }

  private static Scenario of(String name, String title, Plan plan, Target... targets) {
    return new Scenario(name, title, plan, false, List.of(targets));
  }

  private static double wobble(Course run, int from, int to) {
    double[] limits = run.settledLimits(from, to);
    double mean = Arrays.stream(limits).average().orElse(Double.NaN);
    double squares = Arrays.stream(limits).map(c -> (c - mean) * (c - mean)).sum();
    return Math.sqrt(squares / limits.length) / mean;
  }

  private static double offPlateau(Course run) {
    double plateau = Arrays.stream(run.settledLimits(100, 120)).average().orElse(Double.NaN);
    return Arrays.stream(run.settledLimits(72, 120))
        .map(limit -> Math.abs(limit / plateau - 1))
        .max()
        .orElse(Double.NaN);
  }

  private static double dip(Course run) {
    double[] before = run.settledLimits(110, 120);
    double least = Arrays.stream(run.settledLimits(120, 180)).min().orElse(Double.NaN);
    return before.length == 0 ? Double.NaN : least / before[before.length - 1];
  }

  private static double drift(Course run) {
    double third = Arrays.stream(run.settledLimits(120, 180)).average().orElse(Double.NaN);
    double last = Arrays.stream(run.settledLimits(1_740, 1_800)).average().orElse(Double.NaN);
    return Math.abs(last / third - 1);
  }

  private static double worstMinute(Course run) {
    double worst = 1;
    for (int from = 60; from < run.length(); from += 60) {
      worst = Math.min(worst, run.goodput(from, from + 60));
    }
    return worst;
  }
}
