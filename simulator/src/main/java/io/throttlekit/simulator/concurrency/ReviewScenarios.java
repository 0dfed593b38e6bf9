package io.throttlekit.simulator.concurrency;

import static io.throttlekit.simulator.concurrency.Plan.VARIATION;

import java.util.List;
import java.util.stream.Stream;

/**
 * Scenarios for which no algorithm here was designed: the first eight are those of an outside
 * review, the next ones add noise of the latency that is no queue, and the last ones are what real
 * services meet at the edge of their capacity.
 */
final class ReviewScenarios {
  /** A network that is slower than the servers. */
  static final Conditions BACKBONE = Conditions.NONE.wire(30, Lengths.normal(1 / 3.0)).good(100);

  static final Conditions BULK = Conditions.NONE.arrivals(Arrivals.batches(8));
  static final Conditions CONTENTION = Conditions.NONE.crowding(200);
  static final Conditions LLM = Conditions.NONE.timeout(60_000);
  static final Lengths LLM_LENGTHS = Lengths.logNormal(0.8);
  static final Conditions JIT = Conditions.NONE.slowness(Slowness.warmUp(3, 60)).good(200);

  /** A neighbour that doubles the service time now and then. */
  static final Conditions NEIGHBOUR =
      Conditions.NONE.slowness(Slowness.bursts(2, 1.5, 8)).good(150);

  static final Lengths HEAVY = Lengths.logNormal(1.5);

  private static final int SERVERS = Plan.SERVERS;
  private static final double MEAN = Plan.MEAN_MILLIS;
  private static final Lengths SPREAD = Lengths.logNormal(VARIATION);

  private ReviewScenarios() {}

  /** Returns all scenarios. */
  static List<ReviewScenario> all() {
    return Stream.of(reviewed(), noisy(), likely()).flatMap(List::stream).toList();
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
            usual(8, 10, SPREAD).under(BACKBONE),
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
            usual(SERVERS, MEAN, SPREAD).under(NEIGHBOUR),
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

  /** Returns the scenarios of real services at the edge of their capacity. */
  static List<ReviewScenario> likely() {
    return List.of(
        of(
            "edge",
            "20 servers of 20 ms at 0.5 times the capacity for a minute, then 1.0 for ten",
            Plan.empty().then(60, 0.5).then(600, 1),
            70),
        of(
            "backbone",
            "8 servers of 10 ms, exponential, behind a network of 30 ms, deviation 10 ms; 1.0, then"
                + " 1.05 times the capacity",
            Plan.empty()
                .then(phase(60, 0.7, 8, 10, Lengths.EXPONENTIAL))
                .then(phase(120, 1, 8, 10, Lengths.EXPONENTIAL))
                .then(phase(120, 1.05, 8, 10, Lengths.EXPONENTIAL))
                .under(BACKBONE),
            54),
        of(
            "bulk",
            "requests arrive in batches of 8 on average; 1.3 times the capacity for five minutes",
            Plan.empty().then(60, 0.7).then(300, 1.3).under(BULK),
            76),
        of(
            "contention",
            "20 servers; the service time of 20 ms doubles with 200 in flight",
            usual(SERVERS, MEAN, SPREAD).under(CONTENTION),
            32),
        of(
            "llm",
            "8 servers of 2 s, deviation 0.8 of it; clients wait for a minute",
            Plan.empty()
                .then(phase(180, 0.7, 8, 2_000, LLM_LENGTHS))
                .then(phase(300, 1.05, 8, 2_000, LLM_LENGTHS))
                .then(phase(120, 0.9, 8, 2_000, LLM_LENGTHS))
                .then(phase(180, 1.5, 8, 2_000, LLM_LENGTHS))
                .under(LLM),
            24),
        of(
            "jit",
            "the service time falls from 60 ms to 20 ms in the first minute, under a load of 0.8,"
                + " then 1.05",
            Plan.empty().then(120, 0.8).then(120, 1.05).under(JIT),
            52),
        of(
            "neighbourhood",
            "a neighbour doubles the service time in bursts of 1.5 s, at 1.05 times the capacity",
            Plan.empty().then(60, 0.7).then(240, 1.05).under(NEIGHBOUR),
            52),
        of(
            "morning",
            "half an hour at 0.02 times the capacity, then 5 times for two minutes",
            Plan.empty().then(1_800, 0.02).then(120, 5),
            32),
        of(
            "crons",
            "2.5 times the capacity for 3 s, 0.6 times for 12 s, and so on",
            Plan.empty()
                .then(300, 1)
                .under(Conditions.NONE.arrivals(Arrivals.onOff(2.5, 3, 0.6, 12))),
            47),
        of("autoscaler", "8 to 24 servers of 25 ms, one more every 15 s", autoscaler(), 32),
        of(
            "heavy",
            "service times with a heavy tail: log-normal, deviation 1.5 of the mean",
            usual(SERVERS, MEAN, HEAVY),
            36),
        of(
            "leak",
            "5 servers; the service time of 20 ms grows to 40 ms within 20 minutes, until a"
                + " restart",
            Plan.empty()
                .then(phase(1_800, 0.75, 5, MEAN, SPREAD))
                .under(Conditions.NONE.slowness(Slowness.leak(2, 1_200)).good(200)),
            19),
        of(
            "blend",
            "6 servers of 40 ms, then 60 of 10 ms, and both once more",
            Plan.empty()
                .then(phase(60, 0.9, 6, 40, SPREAD))
                .then(phase(90, 1.1, 60, 10, SPREAD))
                .then(phase(60, 1, 6, 40, SPREAD))
                .then(phase(90, 1.2, 60, 10, SPREAD)),
            91),
        of(
            "zone",
            "60 servers of 30 ms take the load of a second zone for three minutes: 0.52, 1.04, 0.52"
                + " times the capacity",
            Plan.empty()
                .then(phase(60, 0.52, 60, 30, SPREAD))
                .then(phase(180, 1.04, 60, 30, SPREAD))
                .then(phase(60, 0.52, 60, 30, SPREAD)),
            128),
        of("growth", "0.8 to 1.16 times the capacity in steps of 0.04 every minute", growth(), 59),
        of(
            "pool",
            "10 connections of 5 ms, exponential, to a database",
            usual(10, 5, Lengths.EXPONENTIAL).under(Conditions.NONE.good(50)),
            40));
  }

  private static Plan autoscaler() {
    Plan plan = Plan.empty();
    for (int servers = 8; servers <= 24; servers++) {
      plan = plan.then(new Phase(15, 800, servers, 25, SPREAD)); // the capacity of 20 servers
    }
    return plan;
  }

  private static Plan growth() {
    Plan plan = Plan.empty();
    for (int step = 0; step < 10; step++) {
      plan = plan.then(60, 0.8 + 0.04 * step);
    }
    return plan;
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

  static Phase phase(int seconds, double load, int servers, double meanMillis, Lengths lengths) {
    return new Phase(seconds, load * servers * 1_000 / meanMillis, servers, meanMillis, lengths);
  }

  private static ReviewScenario of(String name, String title, Plan plan, int bestLimit) {
    return new ReviewScenario(name, title, plan, bestLimit);
  }
}
