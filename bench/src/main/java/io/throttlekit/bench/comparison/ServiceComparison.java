package io.throttlekit.bench.comparison;

import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Program;
import io.throttlekit.bench.command.Target;
import io.throttlekit.bench.server.ServerProcess;
import io.throttlekit.bench.server.Servers;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Compares the cost of a decision of the service with a server that decides nothing. */
public final class ServiceComparison {
  public static final Set<String> OPTIONS =
      Stream.of(ComparisonPlan.OPTIONS, Servers.OPTIONS)
          .flatMap(Set::stream)
          .collect(Collectors.toUnmodifiableSet());

  private ServiceComparison() {}

  /**
   * {@code [--rounds 10] [--seconds 3] [--warm-up 25] [--connections 4] [--in-flight 16] [--keys
   * 10000] [--service bin/throttlekit] [--folder bench/target/runs]}.
   *
   * <p>Prints Markdown tables, then one line of JSON. The no-op server runs with the service's JVM
   * options.
   */
  public static void main(String[] args) throws InterruptedException {
    System.exit(Program.start(ServiceComparison::read, OPTIONS, System.err, args));
  }

  public static Program read(Arguments arguments) {
    arguments.noWords();
    ComparisonPlan plan = ComparisonPlan.from(arguments);
    Servers servers = Servers.from(arguments);
    return () -> compare(plan, servers);
  }

  private static void compare(ComparisonPlan plan, Servers servers)
      throws IOException, InterruptedException {
    servers.makeCaches("memory");
    try (ServerProcess started = servers.service(Map.of());
        Contender service = new Contender(started, plan);
        ServerProcess baseline = servers.noOp(Servers.jvmOptions(started.arguments()));
        Contender noOp = new Contender(baseline, plan)) {
      ComparisonReport report = new Comparison(plan).run(noOp, service);
      System.out.println(report.table());
      System.out.println(report.json());
      Target.require(report.targets());
    }
  }
}
