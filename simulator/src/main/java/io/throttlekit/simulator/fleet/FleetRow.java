package io.throttlekit.simulator.fleet;

import io.throttlekit.simulator.concurrency.Course;
import io.throttlekit.simulator.concurrency.Plan;
import io.throttlekit.simulator.concurrency.Scenario;
import io.throttlekit.simulator.concurrency.Scenarios;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * A span of a scenario in which fleets are compared with one process.
 *
 * @param name in tables
 * @param from first second
 * @param to end, exclusive
 * @param worst whether goodput is that of the worst minute, instead of the whole span
 */
record FleetRow(String name, Scenario scenario, int from, int to, boolean worst) {
  private static final int MINUTE = 60;

  /** The scenario of the capacity that is halved after a minute, and restored after another one. */
  static final String HALVED = "capacity-halved";

  private static final int HALVED_AT = 60;
  private static final int PLATEAU_FROM = 90;
  private static final int RESTORED_AT = 120;

  /** The limit has followed when it is within this multiple of its plateau. */
  private static final double FOLLOWED = 1.3;

  /** Returns the rows of the published scenarios. */
  static List<FleetRow> all() {
    return List.of(
        of("T1 1.2× the capacity", "step-1.2", 120, 180),
        of("T1 2×", "step-2", 120, 180),
        of("T1 5×", "step-5", 120, 180),
        of("T3 5×, first 10 s", "step-5", 60, 70),
        of("T3 5×, first minute", "step-5", 60, 120),
        of("T4 half of the capacity, first 12 s", HALVED, HALVED_AT, 72),
        of("T4 half of the capacity, first minute", HALVED, HALVED_AT, RESTORED_AT),
        of("T4 half of the capacity, after 12 s", HALVED, 72, RESTORED_AT),
        of("T5 restored, first 12 s", HALVED, RESTORED_AT, 132),
        of("T5 restored, first minute", HALVED, RESTORED_AT, 180),
        of("T5 restored, after 12 s", HALVED, 132, 180),
        of("T6 half an hour at 1.2×", "drift-1.2", MINUTE, 1_800),
        worst("T6 half an hour at 1.2×, worst minute", "drift-1.2", MINUTE, 1_800),
        of("T6 half an hour at 2×", "drift-2.0", MINUTE, 1_800),
        worst("T6 half an hour at 2×, worst minute", "drift-2.0", MINUTE, 1_800),
        of("T7 a third of the speed, after 30 s", "slower", 90, 120),
        worst("T8 0.8×", "calm-0.8-0.5", 60, 180),
        worst("T8 0.95×", "calm-0.95-0.5", 60, 180),
        of("T9 2× after idling, first 10 s", "idle", 600, 610),
        of("T9 2× after idling, first minute", "idle", 600, 660),
        of("T9 2× after idling, after 30 s", "idle", 630, 660),
        large(1.2),
        large(2));
  }

  /**
   * Returns two rows for each load: from a step from half of the capacity on, and its first 12 s.
   *
   * @param loads relative to the capacity
   */
  static List<FleetRow> sweep(List<Double> loads) {
    return loads.stream()
        .flatMap(load -> {
          String times = String.format(Locale.ROOT, "sweep %.2f×", load);
          Plan plan = Plan.empty().then(60, 0.5).then(120, load);
          Scenario scenario = new Scenario(times, times, plan, false, List.of());
          return Stream.of(
              new FleetRow(times, scenario, 60, 180, false),
              new FleetRow(times + ", first 12 s", scenario, 60, 72, false));
        })
        .toList();
  }

  /** Returns the goodput of the span, or the lowest of its minutes. */
  double goodput(Course course) {
    if (!worst) {
      return course.goodput(from, to);
    }
    double lowest = Double.MAX_VALUE;
    for (int start = from; start < to; start += MINUTE) {
      lowest = Math.min(lowest, course.goodput(start, Math.min(to, start + MINUTE)));
    }
    return lowest;
  }

  /** Returns the p99 of the latency in ms. */
  double p99(Course course) {
    return course.latency(0.99, from, to);
  }

  /** Returns the seconds after which the limit has followed the halved capacity. */
  static double followed(Course course) {
    double plateau = course.limit(PLATEAU_FROM, RESTORED_AT);
    int second = HALVED_AT;
    while (course.limit(second, second + 1) > FOLLOWED * plateau) {
      second++;
    }
    return second - HALVED_AT;
  }

  private static FleetRow of(String name, String scenario, int from, int to) {
    return new FleetRow(name, named(scenario), from, to, false);
  }

  private static FleetRow worst(String name, String scenario, int from, int to) {
    return new FleetRow(name, named(scenario), from, to, true);
  }

  /** Returns a scenario of the published table. */
  static Scenario named(String name) {
    return Scenarios.all().stream().filter(s -> s.name().equals(name)).findFirst().orElseThrow();
  }

  private static FleetRow large(double load) {
    Plan plan = Plan.empty().then(60, 5, 200, 20, 0.5).then(120, 10 * load, 200, 20, 0.5);
    String times = load == 2 ? "2×" : load + "×";
    Scenario scenario = new Scenario("large-" + load, times, plan, false, List.of());
    return new FleetRow("200 servers, " + times, scenario, 120, 180, false);
  }
}
