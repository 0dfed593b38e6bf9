package io.throttlekit.simulator.concurrency;

import java.util.List;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;

/**
 * A backend of the sweep: servers of 20 ms.
 *
 * @param servers requests that it serves at once
 * @param wire whether it is behind a network of 30 ms, deviation 10 ms
 */
record SweepBackend(int servers, boolean wire) {
  /** Goals of latency, in service times beside the network. */
  static final List<Integer> GOALS = List.of(5, 3);

  private static final double WIRE_MILLIS = 30;
  private static final double RATIO = 1.1; // of one fixed limit to the next
  private static final int MAX_SEARCHED = 180; // seconds
  private static final double SEARCHED = 600_000; // requests, unless the seconds are reached first

  /** Returns all backends. */
  static List<SweepBackend> all() {
    return Stream.of(3, 20, 200)
        .flatMap(
            servers -> Stream.of(new SweepBackend(servers, false), new SweepBackend(servers, true)))
        .toList();
  }

  /** Returns the name in tables. */
  String title() {
    return servers + (wire ? " wire" : " direct");
  }

  /** Returns the latency in ms up to which a response is good. */
  double goodMillis(int goal) {
    return (wire ? WIRE_MILLIS : 0) + goal * Plan.MEAN_MILLIS;
  }

  Conditions conditions() {
    return wire ? Conditions.NONE.wire(WIRE_MILLIS, Lengths.normal(1 / 3.0)) : Conditions.NONE;
  }

  /** Returns a phase at a load that is relative to the capacity. */
  Phase phase(int seconds, double load) {
    return new Phase(
        seconds,
        load * perMilli() * 1_000,
        servers,
        Plan.MEAN_MILLIS,
        Lengths.logNormal(Plan.VARIATION));
  }

  /** Returns the plan on which the best fixed limit is searched. */
  Plan searched(double load) {
    int seconds = (int) Math.min(MAX_SEARCHED, SEARCHED / (perMilli() * 1_000));
    return Plan.empty().under(conditions()).then(phase(seconds, load));
  }

  /**
   * Returns the fixed limits among which the best one is searched: from a little less than the
   * requests in flight of full use to more than the laxest goal allows.
   */
  int[] limits() {
    double from = perMilli() * goodMillis(1) / RATIO;
    double to = perMilli() * goodMillis(GOALS.getFirst()) * RATIO;
    return DoubleStream.iterate(from, at -> at <= to, at -> at * RATIO)
        .mapToInt(at -> (int) Math.ceil(at))
        .distinct()
        .toArray();
  }

  private double perMilli() {
    return servers / Plan.MEAN_MILLIS;
  }
}
