package io.throttlekit.bench;

import java.time.Duration;

/**
 * How two servers are compared.
 *
 * @param warmUp closed loop for each before anything counts; a JVM takes 20 s to reach its speed
 * @param rounds how often each is measured, in turn
 * @param roundTime length of one measurement
 * @param connections to each server
 * @param inFlight callers per connection in a closed loop
 * @param keys different counters
 */
record ComparisonPlan(
    Duration warmUp, int rounds, Duration roundTime, int connections, int inFlight, int keys) {

  /** The plan behind the figures in the documentation, unless options say otherwise. */
  static ComparisonPlan from(Arguments arguments) {
    return new ComparisonPlan(
        arguments.seconds("warm-up", 25),
        arguments.integer("rounds", 10),
        arguments.seconds("seconds", 3),
        arguments.integer("connections", 4),
        arguments.integer("in-flight", 16),
        arguments.integer("keys", 10_000));
  }
}
