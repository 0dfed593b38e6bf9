package io.throttlekit.simulator.concurrency;

import java.util.ArrayList;
import java.util.List;

/**
 * The phases of a scenario. Unless set otherwise, the backend has 20 servers with a service time of
 * 20 ms, so 1,000 requests a second.
 *
 * @param phases in order
 * @param conditions influences besides load, servers and service times
 */
public record Plan(List<Phase> phases, Conditions conditions) {
  static final int SERVERS = 20;
  static final double MEAN_MILLIS = 20;
  static final double VARIATION = 0.5;

  /** A response is good within this multiple of the mean service time. */
  private static final double GOOD = 5;

  private static final double CAPACITY = 1_000; // SERVERS · 1,000 ms / MEAN_MILLIS

  /** Copies the phases. */
  public Plan {
    phases = List.copyOf(phases);
  }

  /** Returns a plan without phases. */
  public static Plan empty() {
    return new Plan(List.of(), Conditions.NONE);
  }

  /**
   * Adds a phase with the default backend.
   *
   * @param load arrivals as a multiple of 1,000 a second
   */
  public Plan then(int seconds, double load) {
    return then(seconds, load, SERVERS, MEAN_MILLIS, VARIATION);
  }

  /** Adds a phase with the given backend. */
  public Plan then(int seconds, double load, int servers, double meanMillis, double variation) {
    return then(
        new Phase(seconds, load * CAPACITY, servers, meanMillis, Lengths.logNormal(variation)));
  }

  /** Adds a phase. */
  Plan then(Phase phase) {
    List<Phase> longer = new ArrayList<>(phases);
    longer.add(phase);
    return new Plan(longer, conditions);
  }

  /** Returns the same phases under other conditions. */
  Plan under(Conditions others) {
    return new Plan(phases, others);
  }

  /** Returns the latency in ms up to which a response is good. */
  double goodMillis(Phase phase) {
    return conditions.goodMillis() > 0 ? conditions.goodMillis() : GOOD * phase.meanMillis();
  }

  /** Returns the total duration. */
  public int seconds() {
    return phases.stream().mapToInt(Phase::seconds).sum();
  }

  /** Returns the phase of the second that begins {@code second} s after the start. */
  Phase at(int second) {
    int end = 0;
    for (Phase phase : phases) {
      end += phase.seconds();
      if (second < end) {
        return phase;
      }
    }
    throw new IllegalArgumentException("it is over after " + end + " s, before " + second);
  }
}
