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

  private static final int WARM_UP_SECONDS = 25;

  /** The plan behind the figures in the documentation, unless options say otherwise. */
  static ComparisonPlan from(Arguments arguments) {
    return from(arguments, WARM_UP_SECONDS);
  }

  /** The same, but with a warm-up of {@code warmUpSeconds} unless an option says otherwise. */
  static ComparisonPlan from(Arguments arguments, int warmUpSeconds) {
    return new ComparisonPlan(
        arguments.seconds("warm-up", 1, warmUpSeconds),
        arguments.integer("rounds", 1, 10),
        arguments.seconds("seconds", 1, 3),
        arguments.integer("connections", 1, 4),
        arguments.integer("in-flight", 1, 16),
        arguments.integer("keys", 1, 10_000));
  }
}
