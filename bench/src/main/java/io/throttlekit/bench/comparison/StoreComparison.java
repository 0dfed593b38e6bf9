package io.throttlekit.bench.comparison;

import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Program;
import io.throttlekit.bench.command.Target;
import io.throttlekit.bench.load.ClosedLoop;
import io.throttlekit.bench.load.MeasuredLoad;
import io.throttlekit.bench.machine.ProcessUsage;
import io.throttlekit.bench.server.ServerProcess;
import io.throttlekit.bench.server.Servers;
import io.throttlekit.testkit.redis.RedisProcess;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Measures the cost of a decision with counters in Redis, leased and strict, beside counters in
 * memory and a server that decides nothing. The CPU of Redis is included.
 */
final class StoreComparison {
  static final Set<String> OPTIONS = ServiceComparison.OPTIONS;

  /** Lease size in leased.yaml. */
  private static final int BATCH = 100;

  /**
   * Warm-up. Only one in a hundred requests leases units, so that code takes longer to be compiled.
   */
  private static final int WARM_UP_SECONDS = 60;

  private static final int ROUNDS = 5;

  /**
   * Length of a round. The load visits its keys evenly, so all leases end within the same few
   * seconds, and no lease is requested for a while after. A round lasts for a whole such cycle.
   */
  private static final int SECONDS_OF_A_ROUND = 9;

  private StoreComparison() {}

  /**
   * Takes the options of {@link ServiceComparison}; prints Markdown tables, then one line of JSON.
   */
  public static void main(String[] args) throws InterruptedException {
    System.exit(Program.start(StoreComparison::read, OPTIONS, System.err, args));
  }

  static Program read(Arguments arguments) {
    arguments.noWords();
    ComparisonPlan plan =
        ComparisonPlan.from(arguments, WARM_UP_SECONDS, ROUNDS, SECONDS_OF_A_ROUND);
    Servers servers = Servers.from(arguments);
    return () -> compare(plan, servers);
  }

  private static void compare(ComparisonPlan plan, Servers servers)
      throws IOException, InterruptedException {
    servers.makeCaches("memory", "shared");
    try (RedisProcess redis = RedisProcess.start()) {
      Map<String, String> store = Map.of("THROTTLEKIT_STORE_URI", redis.url());
      try (ServerProcess inMemory = servers.service("memory", "policies.yaml", Map.of());
          Contender memory = new Contender(inMemory, plan);
          ServerProcess nothing = servers.noOp(Servers.jvmOptions(inMemory.arguments()));
          Contender noOp = new Contender(nothing, plan);
          ServerProcess leasing = servers.service("leased", "leased.yaml", store);
          Contender leased = new Contender(leasing, with(redis, leasing), plan);
          ServerProcess strictService = servers.service("strict", "policies.yaml", store);
          Contender strict = new Contender(strictService, with(redis, strictService), plan)) {
        int half = new Comparison(plan).measure(List.of(noOp, memory, leased, strict));
        RoundTrips trips =
            RoundTrips.measure(
                leased, redis, BATCH, new ClosedLoop(plan.inFlight()), plan.roundTime());
        StoreReport report =
            new StoreReport(
                noOp.figures(),
                memory.figures(),
                leased.figures(),
                strict.figures(),
                trips,
                plan.rounds(),
                half);
        System.out.println(report.table());
        System.out.println(report.json());
        Target.require(report.targets());
      }
    }
  }

  private static MeasuredLoad.Meter with(RedisProcess redis, ServerProcess server) {
    return () -> {
      ProcessUsage service = server.usage();
      long cpuNanos = service.cpuNanos() + redis.cpuMicros() * 1_000;
      return new ProcessUsage(cpuNanos, service.residentBytes());
    };
  }
}
