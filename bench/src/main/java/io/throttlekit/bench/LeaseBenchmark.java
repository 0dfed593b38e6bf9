package io.throttlekit.bench;

import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Program;
import io.throttlekit.simulator.leases.LeaseReport;
import java.util.Set;

/**
 * Compares sizing policies of leases on the published workloads, in a simulation with a fixed seed.
 */
public final class LeaseBenchmark {
  public static final Set<String> OPTIONS = Set.of();

  private LeaseBenchmark() {}

  /** Takes no arguments. Prints Markdown tables, then one line of JSON. */
  public static void main(String[] args) throws InterruptedException {
    System.exit(Program.start(LeaseBenchmark::read, OPTIONS, System.err, args));
  }

  public static Program read(Arguments arguments) {
    arguments.noWords();
    return () -> {
      LeaseReport report = new LeaseReport();
      System.out.println(report.markdown());
      System.out.println(report.json());
    };
  }
}
