package io.throttlekit.simulator.concurrency;

import java.util.ArrayList;
import java.util.List;

/**
 * What happens to a backend of 20 servers that take 20 ms for a request, so 1,000 requests a
 * second, unless said otherwise.
 *
 * @param phases one after another
 */
record Plan(List<Phase> phases) {
  static final int SERVERS = 20;
  static final double MEAN_MILLIS = 20;
  static final double VARIATION = 0.5;

  private static final double CAPACITY = 1_000;

  /** Copies the phases. */
  Plan {
    phases = List.copyOf(phases);
  }

  /** Nothing yet. */
  static Plan empty() {
    return new Plan(List.of());
  }

  /**
   * And then an undisturbed backend.
   *
   * @param load arrivals as a multiple of 1,000 a second
   */
  Plan then(int seconds, double load) {
    return then(seconds, load, SERVERS, MEAN_MILLIS, VARIATION);
  }

  /** And then a backend as it is said. */
  Plan then(int seconds, double load, int servers, double meanMillis, double variation) {
    return then(
        new Phase(seconds, load * CAPACITY, servers, meanMillis, Lengths.logNormal(variation)));
  }

  /** And then that. */
  Plan then(Phase phase) {
    List<Phase> longer = new ArrayList<>(phases);
    longer.add(phase);
    return new Plan(longer);
  }

  /** How long all of it takes. */
  int seconds() {
    return phases.stream().mapToInt(Phase::seconds).sum();
  }

  /** What is so in the second that begins {@code second} s after the start. */
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
