package io.throttlekit.bench;

import java.io.IOException;
import java.util.Map;

/** Measures what a decision of the service costs beside a server that decides nothing. */
final class ServiceComparison {
  private ServiceComparison() {}

  /**
   * {@code [--rounds 10] [--seconds 3] [--warm-up 25] [--connections 4] [--in-flight 16] [--keys
   * 10000] [--service bin/throttlekit] [--folder bench/target/runs]}.
   *
   * <p>Prints Markdown tables, then one line of JSON. The no-op server runs on the same JVM options
   * as the service.
   */
  public static void main(String[] args) throws IOException, InterruptedException {
    Arguments arguments = Arguments.parse(args);
    ComparisonPlan plan = ComparisonPlan.from(arguments);
    Servers servers = Servers.from(arguments);
    try (ServerProcess started = servers.service(Map.of());
        Contender service = new Contender(started, plan);
        ServerProcess baseline = servers.noOp(Servers.jvmOptions(started.arguments()));
        Contender noOp = new Contender(baseline, plan)) {
      ComparisonReport report = new Comparison(plan).run(noOp, service);
      System.out.println(report.table());
      System.out.println(report.json());
    }
  }
}
