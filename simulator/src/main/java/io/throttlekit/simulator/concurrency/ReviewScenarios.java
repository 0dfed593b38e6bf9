package io.throttlekit.simulator.concurrency;

import static io.throttlekit.simulator.concurrency.Plan.VARIATION;

import java.util.List;
import java.util.stream.Stream;

/**
 * Scenarios for which no algorithm here was designed: the first eight are those of an outside
 * review, the others add noise of the latency that is no queue.
 */
final class ReviewScenarios {
  private static final int SERVERS = Plan.SERVERS;
  private static final double MEAN = Plan.MEAN_MILLIS;
  private static final Lengths SPREAD = Lengths.logNormal(VARIATION);

  private ReviewScenarios() {}

  /** Returns all scenarios. */
  static List<ReviewScenario> all() {
    return Stream.concat(reviewed().stream(), noisy().stream()).toList();
  }

  /** Returns the scenarios of the review. */
  static List<ReviewScenario> reviewed() {
    return List.of(
        of("few", "3 servers of 150 ms", usual(3, 150, SPREAD), 10),
        of(
            "many",
            "64 servers of 50 ms, exponential: 0.8, 1.05, 1.5 and 0.9 times the capacity",
            Plan.empty()
                .then(phase(60, 0.8, 64, 50, Lengths.EXPONENTIAL))
                .then(phase(150, 1.05, 64, 50, Lengths.EXPONENTIAL))
                .then(phase(60, 1.5, 64, 50, Lengths.EXPONENTIAL))
                .then(phase(30, 0.9, 64, 50, Lengths.EXPONENTIAL)),
            113),
        of(
            "bimodal",
            "16 servers; 90 % of requests take 5 ms, 10 % 150 ms",
            usual(16, 19.5, Lengths.either(5, 150, 0.1)).under(Conditions.NONE.good(300)),
            87),
        of(
            "stalls",
            "all servers stop for 300 ms every 10 s",
            usual(SERVERS, MEAN, SPREAD)
                .under(Conditions.NONE.stalls(new Interruptions(10, 0.3, 0))),
            38),
        of(
            "deploy",
            "0.7 times the capacity; a version that takes twice the service time is deployed, and"
                + " taken back",
            Plan.empty()
                .then(phase(60, 0.7, SERVERS, 25, SPREAD))
                .then(phase(120, 1.4, SERVERS, 50, SPREAD))
                .then(phase(60, 0.7, SERVERS, 25, SPREAD))
                .then(phase(60, 1.3, SERVERS, 25, SPREAD))
                .under(Conditions.NONE.good(250)),
            45),
        of("steps", "10 to 40 servers of 30 ms and back, in steps of 30 s", steps(), 43),
        of(
            "wire",
            "8 servers of 10 ms behind a network of 30 ms, deviation 10 ms",
            usual(8, 10, SPREAD).under(Conditions.NONE.wire(30, Lengths.normal(1 / 3.0)).good(100)),
            50),
        of(
            "thrashing",
            "the service time of 20 ms doubles with 40 in flight",
            Plan.empty()
                .then(phase(60, 0.014, 1_000, MEAN, SPREAD))
                .then(phase(120, 0.024, 1_000, MEAN, SPREAD))
                .then(phase(60, 0.018, 1_000, MEAN, SPREAD))
                .then(phase(60, 0.04, 1_000, MEAN, SPREAD))
                .under(Conditions.NONE.crowding(40).good(200)),
            43));
  }

  /** Returns the scenarios with noise that is no queue. */
  static List<ReviewScenario> noisy() {
    return List.of(
        of(
            "pauses",
            "the limiter's process stops for 1 s about every 25 s",
            usual(SERVERS, MEAN, SPREAD)
                .under(Conditions.NONE.pauses(new Interruptions(20, 1, 10))),
            49),
        of(
            "neighbour",
            "a neighbour doubles the service time in bursts of 1.5 s",
            usual(SERVERS, MEAN, SPREAD)
                .under(Conditions.NONE.slowness(Slowness.bursts(2, 1.5, 8)).good(150)),
            43),
        of(
            "routes",
            "a route of 10 ms and one of 100 ms, whose share changes from 5 % to 30 % and back",
            Plan.empty()
                .then(routes(60, 900, 0.05))
                .then(routes(120, 900, 0.3))
                .then(routes(60, 900, 0.05))
                .then(routes(60, 2_000, 0.05))
                .under(Conditions.NONE.good(300)),
            32),
        of(
            "jitter",
            "a network whose delays have a heavy tail: mean 8 ms, up to 800 ms",
            usual(SERVERS, MEAN, SPREAD)
                .under(Conditions.NONE.wire(8, Lengths.pareto(1.5, 100)).good(150)),
            52),
        of(
            "daily",
            "12 servers of 40 ms; a load from 0.3 to 1.5 and back in 100 s",
            Plan.empty()
                .then(phase(300, 0.9, 12, 40, SPREAD))
                .under(Conditions.NONE.arrivals(Arrivals.daily(0.667, 100))),
            35),
        of(
            "sparse",
            "2 servers of 120 ms, deviation of the mean",
            usual(2, 120, Lengths.logNormal(1)),
            6),
        of(
            "batches",
            "requests arrive in batches of 10 on average",
            usual(SERVERS, MEAN, SPREAD).under(Conditions.NONE.arrivals(Arrivals.batches(10))),
            79),
        of(
            "wandering",
            "service times that are correlated over 3 s, deviation of 0.4",
            usual(SERVERS, MEAN, SPREAD)
                .under(Conditions.NONE.slowness(Slowness.wandering(0.4, 3)).good(150)),
            49),
        of(
            "start",
            "150 servers of 40 ms at 0.6 times the capacity from the initial limit of 20, then 1.2",
            Plan.empty()
                .then(phase(60, 0.6, 150, 40, SPREAD))
                .then(phase(60, 1.2, 150, 40, SPREAD)),
            235));
  }

  /** Returns five minutes at 0.7, 1.2, 0.9 and 2 times the capacity. */
  private static Plan usual(int servers, double meanMillis, Lengths lengths) {
    return Plan.empty()
        .then(phase(60, 0.7, servers, meanMillis, lengths))
        .then(phase(120, 1.2, servers, meanMillis, lengths))
        .then(phase(60, 0.9, servers, meanMillis, lengths))
        .then(phase(60, 2, servers, meanMillis, lengths));
  }

  private static Plan steps() {
    Plan plan = Plan.empty();
    for (int servers : new int[] {10, 20, 30, 40, 40, 30, 20, 10}) {
      plan = plan.then(new Phase(30, 1_667, servers, 30, SPREAD)); // 5 times 10 servers' capacity
    }
    return plan;
  }

  private static Phase routes(int seconds, double perSecond, double slow) {
    double mean = 10 * (1 - slow) + 100 * slow;
    return new Phase(seconds, perSecond, SERVERS, mean, Lengths.either(10, 100, slow));
  }

  private static Phase phase(
      int seconds, double load, int servers, double meanMillis, Lengths lengths) {
    return new Phase(seconds, load * servers * 1_000 / meanMillis, servers, meanMillis, lengths);
  }

  private static ReviewScenario of(String name, String title, Plan plan, int bestLimit) {
    return new ReviewScenario(name, title, plan, bestLimit);
  }
}
