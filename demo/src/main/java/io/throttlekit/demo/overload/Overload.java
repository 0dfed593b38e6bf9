package io.throttlekit.demo.overload;

import io.netty.channel.EventLoopGroup;
import io.throttlekit.TimeSource;
import io.throttlekit.demo.DemoEnvironment;
import io.throttlekit.demo.DemoFiles;
import io.throttlekit.demo.Undo;
import io.throttlekit.demo.UnusableEnvoyException;
import io.throttlekit.demo.load.Capacity;
import io.throttlekit.demo.load.Course;
import io.throttlekit.demo.load.Course.Figures;
import io.throttlekit.demo.load.OpenLoad;
import io.throttlekit.simulator.concurrency.Chance;
import io.throttlekit.testkit.net.EventLoops;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * Offers upstreams more than their capacity, through real Envoys side by side: each arm has an
 * Envoy and an upstream of its own, and receives the same requests at the same time. Used once.
 */
public final class Overload {
  private static final int ARRIVALS = 1; // a random stream of its own

  /** One event loop for all clients, one for all upstreams. */
  private static final int LOOPS = 2;

  private final DemoEnvironment environment;
  private final Capacity capacity;
  private final Duration clientTimeout;
  private final TimeSource time = TimeSource.system();

  /** Creates a demo with upstreams of 125 requests a second. */
  public Overload(DemoEnvironment environment) {
    this(environment, Capacity.USUAL);
  }

  Overload(DemoEnvironment environment, Capacity capacity) {
    this.environment = environment;
    this.capacity = capacity;
    this.clientTimeout = capacity.deadline().multipliedBy(5).dividedBy(2); // usually 1 s
  }

  /**
   * Runs the phases, or until {@link DemoEnvironment#stop}.
   *
   * @param terminal whether {@code out} is a terminal to draw on
   * @return results of the phases that ended
   * @throws UnusableEnvoyException before any process is started, if the configured Envoy cannot be
   *     used
   * @throws IOException if there is no Envoy, or an arm does not start
   */
  public OverloadSummary run(OverloadPlan plan, PrintStream out, boolean terminal)
      throws IOException, InterruptedException {
    Path envoy = environment.envoy();
    Schedule schedule = plan.schedule();
    environment.report(describe(plan));
    try (Undo started = new Undo()) {
      Path folder = DemoFiles.folder(started);
      EventLoopGroup loops = EventLoops.of(LOOPS);
      started.push(() -> loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly());
      var setting =
          new Arm.Setting(
              envoy, capacity, clientTimeout, plan.seed(), loops.next(), loops.next(), time);
      List<Arm> arms = new ArrayList<>();
      for (Limiter limiter : plan.arms()) {
        Course course = new Course(schedule.seconds(), capacity.deadline(), clientTimeout);
        arms.add(Arm.start(limiter, setting, course, folder.resolve(limiter.word()), started));
      }
      OpenLoad load =
          new OpenLoad(
              setting.clients(),
              new Chance(plan.seed(), ARRIVALS),
              schedule.seconds(),
              second -> schedule.at(second).load() * capacity.perSecond(),
              (second, intended) -> arms.forEach(arm -> arm.send(second, intended)),
              clientTimeout,
              time);
      int seconds = offer(load, schedule, arms, new OverloadScreen(out, terminal, schedule));
      return summary(plan, arms, seconds, load);
    }
  }

  private String describe(OverloadPlan plan) {
    Schedule schedule = plan.schedule();
    return String.format(
        Locale.ROOT,
        "an upstream that can do %.0f requests a second, behind each of %d Envoys; phases: %s; each"
            + " takes %d s, of which the last %d s count: %.1f min in all",
        capacity.perSecond(),
        plan.arms().size(),
        schedule.phases().stream().map(Phase::name).collect(Collectors.joining(", ")),
        schedule.length(),
        schedule.counted(),
        schedule.seconds() / 60.0);
  }

  /** Offers the load. Returns the number of whole seconds. */
  private int offer(OpenLoad load, Schedule schedule, List<Arm> arms, OverloadScreen screen)
      throws IOException, InterruptedException {
    long start = time.monotonicNanos();
    load.start(start);
    Map<Limiter, Course> courses = new EnumMap<>(Limiter.class);
    arms.forEach(arm -> courses.put(arm.limiter(), arm.course()));
    int second = 0;
    while (second < schedule.seconds()) {
      if (second % schedule.length() == 0) {
        Phase phase = schedule.at(second);
        arms.forEach(arm -> arm.begin(phase, capacity));
      }
      long end = start + (second + 1) * 1_000_000_000L;
      if (environment.awaitStop(end - time.monotonicNanos(), TimeUnit.NANOSECONDS)) {
        load.stop();
        break;
      }
      for (Arm arm : arms) {
        arm.look(second);
      }
      second++;
      screen.show(second, courses);
    }
    load.awaitAnswers();
    return second;
  }

  private OverloadSummary summary(OverloadPlan plan, List<Arm> arms, int seconds, OpenLoad load) {
    Schedule schedule = plan.schedule();
    List<OverloadSummary.Row> rows = new ArrayList<>();
    long latestNanos = 0;
    for (int place = 0; schedule.end(place) <= seconds; place++) {
      latestNanos =
          Math.max(latestNanos, load.latestNanos(schedule.countedFrom(place), schedule.end(place)));
      Map<Limiter, Figures> figures = new EnumMap<>(Limiter.class);
      for (Arm arm : arms) {
        figures.put(
            arm.limiter(), arm.course().figures(schedule.countedFrom(place), schedule.end(place)));
      }
      rows.add(new OverloadSummary.Row(schedule.phases().get(place), figures));
    }
    return new OverloadSummary(
        capacity, schedule.counted(), plan.seed(), rows, latestNanos / 1_000_000);
  }
}
