package io.throttlekit.demo.fleet;

import io.throttlekit.demo.load.Course;
import io.throttlekit.demo.load.Course.Figures;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Locale;
import java.util.stream.Collectors;

/** Prints what a fleet does: a line every few seconds, and one for each event. */
final class FleetLines {
  private static final int CLIENT_TIMEOUT_SECONDS = 1; // a second is complete after it

  private final FleetPlan plan;
  private final Fleet fleet;
  private final Course course;
  private final PrintStream out;
  private int second;

  FleetLines(FleetPlan plan, Fleet fleet, Course course, PrintStream out) {
    this.plan = plan;
    this.fleet = fleet;
    this.course = course;
    this.out = out;
  }

  /** Prints an event. */
  void event(String what) {
    out.println("         " + what);
    out.flush();
  }

  /** Prints the state after a number of seconds, and the last second that is complete. */
  void line(int elapsed) {
    second = elapsed;
    int complete = elapsed - CLIENT_TIMEOUT_SECONDS;
    if (complete < 1) {
      return;
    }
    Figures figures = course.figures(complete - 1, complete);
    out.printf(
        Locale.ROOT,
        "%4d s, load %d: %s steers; limit %s; shares of %s; in this second %d in time, %d refused,"
            + " %d late, %d failed%n",
        second,
        plan.load(complete - 1),
        fleet.steering().map(Replica::name).orElse("none"),
        whole(limit()),
        shares(),
        figures.good(),
        figures.refused(),
        figures.late(),
        figures.failed());
    out.flush();
  }

  private double limit() {
    return fleet.replicas().stream().mapToDouble(plan.gate()::limit).max().orElse(0);
  }

  private String shares() {
    return switch (plan.gate()) {
      case SERVICE ->
          "replicas "
              + fleet.replicas().stream()
                  .map(replica -> whole(plan.gate().share(replica)))
                  .collect(Collectors.joining(" "));
      case ENVOY ->
          "Envoys "
              + fleet.envoys().stream().map(FleetLines::share).collect(Collectors.joining(" "));
    };
  }

  private static String share(FleetEnvoy envoy) {
    try {
      return Integer.toString(envoy.maxRequests());
    } catch (IOException e) {
      return "?";
    }
  }

  private static String whole(double value) {
    return Long.toString(Math.round(value));
  }
}
