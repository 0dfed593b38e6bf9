package io.throttlekit.bench;

import io.throttlekit.TimeSource;
import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Bounds;
import io.throttlekit.bench.command.Program;
import io.throttlekit.bench.command.Target;
import io.throttlekit.bench.load.ClosedLoop;
import io.throttlekit.bench.load.Connections;
import io.throttlekit.bench.load.LoadResult;
import io.throttlekit.bench.load.OpenLoop;
import io.throttlekit.bench.load.Requests;
import io.throttlekit.bench.server.ServerProcess;
import io.throttlekit.bench.server.Servers;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Measures a service after its start: time to the first decision, throughput in the first second of
 * traffic, memory, and the first decisions with Redis.
 */
public final class StartupBenchmark {
  public static final Set<String> OPTIONS =
      Set.of("starts", "seconds", "warm-up", "connections", "keys", "service", "folder");
  // Several, so that the code for connecting is compiled too.
  private static final int WARM_UP_CONNECTS = 5;
  private static final int FIRST = 1_000; // decisions, and their rate per second
  // Long enough for the JIT compiler, so that the later decisions are warm ones.
  private static final Duration STRICT_WARM_UP = Duration.ofSeconds(15);
  private static final Map<String, String> NO_WARM_UP = Map.of("THROTTLEKIT_WARM_UP_REQUESTS", "0");
  private static final Map<String, String> NO_CACHE =
      Map.of("THROTTLEKIT_JAVA_OPTIONS", "-XX:AOTMode=off");

  private final TimeSource time = TimeSource.system();
  private final ClosedLoop loop = new ClosedLoop(16);
  private final Requests requests;
  private final Servers servers;
  private final int connections;

  private StartupBenchmark(Servers servers, int connections, int keys) {
    this.servers = servers;
    this.connections = connections;
    this.requests = new Requests(keys);
  }

  /**
   * {@code [--starts 5] [--seconds 20] [--warm-up 25] [--connections 4] [--keys 10000] [--service
   * bin/throttlekit] [--folder bench/target/runs]}.
   *
   * <p>The warm-up is that of this process, against the no-op server. Prints a Markdown table, then
   * one line of JSON.
   */
  public static void main(String[] args) throws InterruptedException {
    System.exit(Program.start(StartupBenchmark::read, OPTIONS, System.err, args));
  }

  public static Program read(Arguments arguments) {
    arguments.noWords();
    StartupBenchmark benchmark =
        new StartupBenchmark(
            Servers.from(arguments),
            arguments.integer("connections", 1, 4),
            arguments.integer("keys", 1, 10_000));
    Duration warmUp = arguments.seconds("warm-up", 1, 25);
    int starts = arguments.integer("starts", 1, 5);
    Duration length = arguments.seconds("seconds", 1, 20);
    return () -> benchmark.run(warmUp, starts, length);
  }

  private void run(Duration warmUp, int starts, Duration length)
      throws IOException, InterruptedException {
    prepare();
    warmUpThisProcess(warmUp);
    List<Starts> figures = new ArrayList<>();
    figures.add(firstDecision(starts));
    figures.add(startsWithoutCache(starts));
    figures.addAll(warmStarts(starts, length));
    figures.addAll(strictStarts(starts));
    List<Target> targets = figures.stream().map(Starts::target).toList();
    System.out.println("Medians of " + starts + " starts.\n");
    System.out.println(Target.table(targets));
    System.out.println(Starts.table(figures));
    System.out.println(
        "{\"targets\":" + Target.jsonArray(targets) + ",\"starts\":" + Starts.json(figures) + "}");
    Target.require(targets);
  }

  /** Makes the AOT caches, and starts once without measuring: the first start may build. */
  private void prepare() throws IOException, InterruptedException {
    servers.makeCaches("memory", "shared");
    servers.service(NO_WARM_UP).close();
  }

  /**
   * Opens new connections several times, so that this process compiles its client before the
   * measurements.
   */
  private void warmUpThisProcess(Duration length) throws IOException, InterruptedException {
    try (ServerProcess noOp =
        servers.noOp(List.of("-Xmx128m", "--enable-native-access=ALL-UNNAMED"))) {
      for (int i = 0; i < WARM_UP_CONNECTS; i++) {
        try (Connections open = new Connections(noOp.target(), connections)) {
          loop.offer(open, requests, Bounds.lasting(length.dividedBy(WARM_UP_CONNECTS)));
        }
      }
    }
  }

  private Starts firstDecision(int starts) throws IOException, InterruptedException {
    Starts seconds = Starts.atMost("s from start to the first decision, no warm-up", 1);
    for (int i = 0; i < starts; i++) {
      long start = time.monotonicNanos();
      try (ServerProcess service = servers.service(NO_WARM_UP);
          Connections one = new Connections(service.target(), 1)) {
        new ClosedLoop(1).offer(one, requests, new Bounds(1, Duration.ofSeconds(10)));
        seconds.add((time.monotonicNanos() - start) / 1e9);
      }
    }
    return seconds;
  }

  /** Measures what the first start of a build does, which has no AOT cache yet. */
  private Starts startsWithoutCache(int starts) throws IOException {
    Starts ready = Starts.atMost("s from start to ready, with warm-up, without an AOT cache", 10);
    for (int i = 0; i < starts; i++) {
      try (ServerProcess service = servers.service(NO_CACHE)) {
        ready.add(service.readyNanos() / 1e9);
      }
    }
    return ready;
  }

  private List<Starts> warmStarts(int starts, Duration length)
      throws IOException, InterruptedException {
    Starts ready = Starts.atMost("s from start to ready, with warm-up", 10);
    Starts first = Starts.atLeast("first second of traffic, ratio to the best second", 0.5);
    Starts resident = Starts.atMost("MB resident after traffic on all keys", 150);
    for (int i = 0; i < starts; i++) {
      try (ServerProcess service = servers.service(Map.of());
          Connections open = new Connections(service.target(), connections)) {
        LoadResult result = loop.offer(open, requests, Bounds.lasting(length));
        List<Long> whole = result.answersPerSecond().subList(0, (int) length.toSeconds());
        ready.add(service.readyNanos() / 1e9);
        first.add((double) whole.getFirst() / Collections.max(whole));
        resident.add(service.usage().residentBytes() / 1e6);
      }
    }
    return List.of(ready, first, resident);
  }

  /** Measures the first strict decisions of a new process with Redis, beside later ones. */
  private List<Starts> strictStarts(int starts) throws IOException, InterruptedException {
    Starts failed = Starts.atMost("failed of the first 1,000 strict decisions of all starts", 0);
    Starts ratio = Starts.atMost("p99 of the first 1,000 strict decisions, ratio to later ones", 5);
    OpenLoop steady = new OpenLoop(FIRST);
    double failures = 0;
    for (int i = 0; i < starts; i++) {
      try (RedisProcess redis = RedisProcess.start();
          ServerProcess service =
              servers.service(
                  "strict", "policies.yaml", Map.of("THROTTLEKIT_STORE_URI", redis.url()));
          Connections open = new Connections(service.target(), connections)) {
        open.awaitReady();
        LoadResult first = steady.offer(open, requests, Bounds.lasting(Duration.ofSeconds(1)));
        loop.offer(open, requests, Bounds.lasting(STRICT_WARM_UP));
        LoadResult later = steady.offer(open, requests, Bounds.lasting(Duration.ofSeconds(5)));
        System.err.println("first strict decisions: " + first + "\nlater: " + later);
        failures += first.failed();
        ratio.add(first.millisAt(99) / later.millisAt(99));
      }
    }
    failed.add(failures);
    return List.of(failed, ratio);
  }
}
