package io.throttlekit.demo;

import io.throttlekit.TimeSource;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Starts three regions and a coordinator as processes of this machine, reports what happens, and
 * stops them. Used once.
 */
public final class MeshDemo {
  private static final int STEP_MILLIS = 50;

  private final DemoEnvironment environment;
  private final String filterTimeout;
  private final TimeSource time = TimeSource.system();

  /** Creates a demo with the usual timeout of Envoy's filter for the service. */
  public MeshDemo(DemoEnvironment environment) {
    this(environment, DemoFiles.FILTER_TIMEOUT);
  }

  MeshDemo(DemoEnvironment environment, String filterTimeout) {
    this.environment = environment;
    this.filterTimeout = filterTimeout;
  }

  /**
   * Runs as many whole windows as fit into the time, or until {@link DemoEnvironment#stop}.
   *
   * @param seconds from {@link MeshScenario#MIN_SECONDS}
   * @throws UnusableEnvoyException before any process is started, if the configured Envoy cannot be
   *     used
   * @throws IOException if there is no Envoy, or a process does not start
   */
  public MeshSummary run(int seconds, PrintStream out) throws IOException, InterruptedException {
    Path envoy = environment.envoy();
    MeshScenario scenario = MeshScenario.within(seconds);
    try (Undo started = new Undo()) {
      Path folder = DemoFiles.folder(started);
      environment.report(
          "starting the coordinator, and three regions: two replicas and a Redis each");
      RedisProcess coordinator =
          MeshRedis.start(started, "--appendonly", "yes", "--appendfsync", "always");
      List<MeshRegion> regions =
          start(envoy, policy(scenario, folder), coordinator, folder, started);
      CoordinatorClock clock = new CoordinatorClock(coordinator, time);
      MeshRun story = new MeshRun(scenario, regions, clock, time, out);
      started.push(story::close);
      story.begin();
      long windows = seconds * 1000L / scenario.windowMillis();
      while (!story.advance(windows)
          && !environment.awaitStop(STEP_MILLIS, TimeUnit.MILLISECONDS)) {
        // continue with the next step
      }
      return story.end();
    }
  }

  static Path policy(MeshScenario scenario, Path folder) throws IOException {
    String policy =
        DemoFiles.text("mesh-policy.yaml")
            .replace("@LIMIT@", Long.toString(scenario.limit()))
            .replace("@WINDOW@", Long.toString(scenario.windowMillis() / 1000));
    return Files.writeString(folder.resolve("policy.yaml"), policy);
  }

  private List<MeshRegion> start(
      Path envoy, Path policy, RedisProcess coordinator, Path folder, Undo started)
      throws IOException {
    List<MeshRegion> regions = new ArrayList<>();
    for (String name : MeshScenario.REGIONS) {
      regions.add(MeshRegion.begin(name, policy, coordinator, folder.resolve(name), started));
    }
    for (MeshRegion region : regions) {
      region.awaitReady(envoy, filterTimeout, started);
      environment.report("region " + region.name() + " is ready: " + region.envoy());
    }
    started.push(() -> endTogether(regions));
    return regions;
  }

  private static void endTogether(List<MeshRegion> regions) {
    try (ExecutorService each = Executors.newVirtualThreadPerTaskExecutor()) {
      for (MeshRegion region : regions) {
        for (DemoService service : region.services()) {
          each.execute(service::close);
        }
      }
    }
  }
}
