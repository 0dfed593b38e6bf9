package io.throttlekit.bench;

import java.time.Duration;
import java.util.Set;

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

  /** The options that {@link #from} reads. */
  static final Set<String> OPTIONS =
      Set.of("warm-up", "rounds", "seconds", "connections", "in-flight", "keys");

  /** The plan behind the figures in the documentation, unless options say otherwise. */
  static ComparisonPlan from(Arguments arguments) {
    return from(arguments, 25, 10, 3);
  }

  /** The same, for servers that need times of their own. */
  static ComparisonPlan from(
      Arguments arguments, int warmUpSeconds, int rounds, int secondsOfARound) {
    return new ComparisonPlan(
        arguments.seconds("warm-up", 1, warmUpSeconds),
        arguments.integer("rounds", 1, rounds),
        arguments.seconds("seconds", 1, secondsOfARound),
        arguments.integer("connections", 1, 4),
        arguments.integer("in-flight", 1, 16),
        arguments.integer("keys", 1, 10_000));
  }
}
