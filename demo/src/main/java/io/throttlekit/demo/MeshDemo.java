package io.throttlekit.demo;

import io.throttlekit.TimeSource;
import io.throttlekit.testkit.envoy.EnvoyBinary;
import io.throttlekit.testkit.envoy.EnvoyLookup;
import io.throttlekit.testkit.envoy.EnvoyLookup.Found;
import io.throttlekit.testkit.envoy.EnvoyLookup.Unavailable;
import io.throttlekit.testkit.envoy.EnvoyLookup.Unusable;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Starts three regions and a coordinator as processes of this machine, reports what happens, and
 * stops them. Used once.
 */
public final class MeshDemo {
  private static final int STEP_MILLIS = 50;

  private final Function<Consumer<String>, EnvoyLookup> envoys;
  private final Consumer<String> progress;
  private final String filterTimeout;
  private final TimeSource time = TimeSource.system();
  private final CountDownLatch stop = new CountDownLatch(1);

  /**
   * @param envoys finds Envoy; its argument receives progress messages
   * @param progress receives one-line messages about slow steps
   * @param filterTimeout timeout of Envoy's filter for the service
   */
  MeshDemo(
      Function<Consumer<String>, EnvoyLookup> envoys,
      Consumer<String> progress,
      String filterTimeout) {
    this.envoys = envoys;
    this.progress = progress;
    this.filterTimeout = filterTimeout;
  }

  public static MeshDemo ofThisMachine(Consumer<String> progress) {
    return new MeshDemo(EnvoyBinary::find, progress, DemoFiles.FILTER_TIMEOUT);
  }

  /** Ends {@link #run} soon. Thread-safe. */
  public void stop() {
    stop.countDown();
  }

  /**
   * Runs as many whole windows as fit into the time, or until {@link #stop}.
   *
   * @param seconds from {@link MeshScenario#MIN_SECONDS}
   * @throws UnusableEnvoyException before any process is started, if the configured Envoy cannot be
   *     used
   * @throws IOException if there is no Envoy, or a process does not start
   */
  public MeshSummary run(int seconds, PrintStream out) throws IOException, InterruptedException {
    Path envoy = envoy();
    MeshScenario scenario = MeshScenario.within(seconds);
    try (Undo started = new Undo()) {
      Path folder = DemoFiles.folder(started);
      progress.accept("starting the coordinator, and three regions: two replicas and a Redis each");
      RedisProcess coordinator =
          MeshRedis.start(started, "--appendonly", "yes", "--appendfsync", "always");
      List<MeshRegion> regions =
          start(envoy, policy(scenario, folder), coordinator, folder, started);
      CoordinatorClock clock = new CoordinatorClock(coordinator, time);
      MeshRun story = new MeshRun(scenario, regions, clock, time, out);
      started.push(story::close);
      story.begin();
      long windows = seconds * 1000L / scenario.windowMillis();
      while (!story.advance(windows) && !stop.await(STEP_MILLIS, TimeUnit.MILLISECONDS)) {
        // continue with the next step
      }
      return story.end();
    }
  }

  private Path envoy() throws IOException {
    return switch (envoys.apply(progress)) {
      case Found(Path program, String _) -> program;
      case Unavailable(String reason) -> throw new IOException("no Envoy: " + reason);
      case Unusable(String reason) -> throw new UnusableEnvoyException(reason);
    };
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
      progress.accept("region " + region.name() + " is ready: " + region.envoy());
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
