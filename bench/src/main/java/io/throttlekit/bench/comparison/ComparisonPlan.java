package io.throttlekit.bench.comparison;

import io.throttlekit.bench.command.Arguments;
import java.time.Duration;
import java.util.Set;

/**
 * Parameters of a comparison of servers.
 *
 * @param warmUp duration of a closed loop for each before the measurements; a JVM takes 20 s to
 *     reach its speed
 * @param rounds number of measurements of each, taken alternately
 * @param roundTime length of one measurement
 * @param connections connections to each server
 * @param inFlight callers per connection in a closed loop
 * @param keys number of counters
 */
record ComparisonPlan(
    Duration warmUp, int rounds, Duration roundTime, int connections, int inFlight, int keys) {

  /** Options that {@link #from} reads. */
  static final Set<String> OPTIONS =
      Set.of("warm-up", "rounds", "seconds", "connections", "in-flight", "keys");

  /** Returns the plan of the figures in the documentation, unless options change it. */
  static ComparisonPlan from(Arguments arguments) {
    return from(arguments, 25, 10, 3);
  }

  /** Returns the same with other defaults. */
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
