package io.throttlekit.demo.fleet;

import io.throttlekit.TimeSource;
import io.throttlekit.demo.DemoEnvironment;
import io.throttlekit.demo.DemoFiles;
import io.throttlekit.demo.Undo;
import io.throttlekit.demo.UnusableEnvoyException;
import io.throttlekit.demo.load.Capacity;
import io.throttlekit.demo.load.Course;
import io.throttlekit.simulator.concurrency.Chance;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Offers an upstream more than its capacity through four Envoys with uneven load, whose limit
 * several replicas of the service compute together, with a fault of the replica that steers. Used
 * once.
 */
public final class FleetDemo {
  static final int MIN = 4;
  static final int MAX = 100;

  /** Duration of the fault, in s. */
  static final int FAULT = 10;

  private static final int SERVICE_TIMES = 2; // a random stream of its own
  private static final int LINE_SECONDS = 5;
  private static final int WORST_OF = 10; // seconds
  private static final int POLL_MILLIS = 100;
  private static final Duration CLIENT_TIMEOUT = Duration.ofSeconds(1);
  private static final Duration FILTER_TIMEOUT = Duration.ofMillis(250);

  private final DemoEnvironment environment;
  private final Capacity capacity;
  private final TimeSource time = TimeSource.system();

  /** Creates a demo with an upstream of 125 requests a second. */
  public FleetDemo(DemoEnvironment environment) {
    this(environment, Capacity.USUAL);
  }

  FleetDemo(DemoEnvironment environment, Capacity capacity) {
    this.environment = environment;
    this.capacity = capacity;
  }

  /**
   * Runs the loads, or until {@link DemoEnvironment#stop}.
   *
   * @return results of the loads that ended
   * @throws UnusableEnvoyException before any process is started, if the configured Envoy cannot be
   *     used
   * @throws IOException if there is no Envoy, or a process does not start
   */
  public FleetSummary run(FleetPlan plan, PrintStream out)
      throws IOException, InterruptedException {
    Path envoy = environment.envoy();
    environment.report(describe(plan));
    try (Undo started = new Undo()) {
      Path folder = DemoFiles.folder(started);
      Chance chance = new Chance(plan.seed(), SERVICE_TIMES);
      FleetLoad load =
          FleetLoad.begin(
              capacity.workers(),
              () -> (long) (capacity.lengths().draw(chance) * capacity.service().toNanos()),
              time,
              started);
      Fleet fleet =
          Fleet.start(
              new FleetSettings(
                  envoy,
                  plan.gate(),
                  plan.store(),
                  plan.replicas(),
                  FleetSettings.UNEVEN,
                  plan.gate().policy(MIN, MAX),
                  FILTER_TIMEOUT,
                  Map.of()),
              load.port(),
              folder,
              started);
      return new Run(plan, fleet, load, out).all();
    }
  }

  private String describe(FleetPlan plan) {
    return String.format(
        Locale.ROOT,
        "starting %d replicas on %s, and 4 Envoys in front of an upstream that can do %.0f requests"
            + " a second; gate: %s; each of %d loads takes %d s",
        plan.replicas(),
        plan.store().word(),
        capacity.perSecond(),
        plan.gate().word(),
        plan.loads().size(),
        plan.length());
  }

  /** The loads, one after another. */
  private final class Run {
    private final FleetPlan plan;
    private final Fleet fleet;
    private final FleetLoad load;
    private final FleetLines lines;
    private final Course course;

    Run(FleetPlan plan, Fleet fleet, FleetLoad load, PrintStream out) {
      this.plan = plan;
      this.fleet = fleet;
      this.load = load;
      this.course =
          load.start(
              fleet.envoys(),
              new FleetLoad.Arrivals(
                  plan.seconds(),
                  second -> plan.load(second) * capacity.perSecond(),
                  capacity.deadline(),
                  CLIENT_TIMEOUT,
                  plan.seed()));
      this.lines = new FleetLines(plan, fleet, course, out);
    }

    FleetSummary all() throws IOException, InterruptedException {
      List<FleetSummary.Row> rows = new ArrayList<>();
      for (int i = 0; i < plan.loads().size(); i++) {
        Optional<FleetSummary.Row> row = one(i * plan.length(), plan.loads().get(i));
        if (row.isEmpty()) {
          break;
        }
        rows.add(row.get());
      }
      return new FleetSummary(plan, capacity.perSecond(), rows);
    }

    /**
     * Runs one load, from a second of the course. Returns empty after {@link DemoEnvironment#stop}.
     */
    private Optional<FleetSummary.Row> one(int start, int times)
        throws IOException, InterruptedException {
      int counted = start + plan.length() / 4; // before, the limit adapts
      int fault = start + plan.length() / 2;
      int end = start + plan.length();
      if (!until(fault)) {
        return Optional.empty();
      }
      Optional<Replica> steering = fleet.steering();
      Replica faulty = steering.orElse(fleet.replicas().getFirst());
      String name = faulty.name();
      long beginNanos = time.monotonicNanos();
      plan.fault().begin(faulty);
      lines.event(
          plan.fault().past() + " " + name + (steering.isPresent() ? ", which steered" : ""));
      Optional<Replica> next = awaitSteering(faulty, fault + FAULT);
      long nextMillis = (time.monotonicNanos() - beginNanos) / 1_000_000;
      lines.event(
          next.map(replica -> "%s steers, %d ms later".formatted(replica.name(), nextMillis))
              .orElse("no replica steers"));
      if (!until(fault + FAULT)) {
        return Optional.empty();
      }
      plan.fault().end(faulty);
      lines.event("ended the fault of " + name);
      if (!until(end)) {
        return Optional.empty();
      }
      boolean _ =
          environment.awaitStop(
              CLIENT_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS); // the last responses
      return Optional.of(
          new FleetSummary.Row(
              times,
              name,
              next.map(Replica::name).orElse(""),
              nextMillis,
              span(counted, fault),
              span(fault, fault + FAULT),
              span(fault + FAULT, end),
              worst(counted, end)));
    }

    /** Waits for a second of the course, printing lines. Returns whether it came. */
    private boolean until(int second) throws InterruptedException {
      while (load.second() < second) {
        int next = Math.min(second, (load.second() / LINE_SECONDS + 1) * LINE_SECONDS);
        if (environment.isStopped() || !load.await(next)) {
          return false;
        }
        if (next % LINE_SECONDS == 0) {
          lines.line(next);
        }
      }
      return true;
    }

    /** Waits until another replica than the faulty one steers. */
    private Optional<Replica> awaitSteering(Replica faulty, int second)
        throws InterruptedException {
      Optional<Replica> steering = fleet.steeringBeside(faulty);
      while (steering.isEmpty()
          && load.second() < second
          && !environment.awaitStop(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
        steering = fleet.steeringBeside(faulty);
      }
      return steering;
    }

    private FleetSummary.Span span(int from, int to) {
      return new FleetSummary.Span(to - from, course.figures(from, to));
    }

    private double worst(int from, int to) {
      double worst = Double.POSITIVE_INFINITY;
      for (int i = from; i + WORST_OF <= to; i++) {
        worst = Math.min(worst, span(i, i + WORST_OF).goodput(capacity.perSecond()));
      }
      return worst;
    }
  }
}
