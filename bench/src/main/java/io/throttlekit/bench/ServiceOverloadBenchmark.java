package io.throttlekit.bench;

import io.throttlekit.bench.busy.Offered;
import io.throttlekit.bench.busy.ServiceOverload;
import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Program;
import io.throttlekit.bench.command.Target;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Measures a service under up to ten times the load that it can decide. */
final class ServiceOverloadBenchmark {
  static final Set<String> OPTIONS = Set.of("seconds", "runs");
  private static final List<Integer> FACTORS = List.of(1, 2, 3, 5, 10);
  // On slow machines the JIT compiler takes processor time from both sides for half a minute.
  private static final Duration WARM_UP = Duration.ofSeconds(40);
  private static final double MEGABYTE = 1e6;

  private ServiceOverloadBenchmark() {}

  /**
   * {@code [--seconds 10] [--runs 5]}: duration of each load, and maximum number of runs until the
   * generator sends on time. Prints Markdown tables, then one line of JSON.
   */
  public static void main(String[] args) throws InterruptedException {
    System.exit(Program.start(ServiceOverloadBenchmark::read, OPTIONS, System.err, args));
  }

  static Program read(Arguments arguments) {
    arguments.noWords();
    Duration length = arguments.seconds("seconds", 1, 10);
    int runs = arguments.integer("runs", 1, 5);
    return () -> run(length, runs);
  }

  private static void run(Duration length, int runs) throws InterruptedException {
    for (int run = 0; run < runs; run++) {
      List<Double> heap = new ArrayList<>();
      List<Offered> all =
          ServiceOverload.measure(FACTORS, WARM_UP, length, _ -> heap.add(heapMegabytes()));
      ServiceOverload.print(all, System.out);
      if (all.stream().allMatch(Offered::isPunctual)) {
        report(all, heap);
        return;
      }
      System.out.println("The generator lagged: once more.\n");
    }
    throw new IllegalStateException(
        "the generator lagged by " + Offered.MAX_LAG_MILLIS + " ms or more in each run");
  }

  private static void report(List<Offered> all, List<Double> heap) {
    int badProbes = all.stream().mapToInt(Offered::badProbes).sum();
    List<Target> targets =
        List.of(
            Target.atLeast(
                "answers in time at 10×, ratio to the best", .9, ServiceOverload.kept(all)),
            Target.atMost("health probes not answered with SERVING in 1 s", 0, badProbes),
            Target.atMost(
                "MB of heap in use after 10×, beyond those after 1×",
                16,
                heap.getLast() - heap.getFirst()),
            Target.atMost(
                "MB of heap while 10× is offered, beyond those while 1× is",
                32,
                ServiceOverload.heapGrowthMegabytes(all)));
    System.out.println();
    System.out.println(Target.table(targets));
    System.out.println("{\"targets\":" + Target.jsonArray(targets) + "}");
    Target.require(targets);
  }

  /** Returns the used heap of clients and service together, after a collection. */
  private static double heapMegabytes() {
    System.gc();
    return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed() / MEGABYTE;
  }
}
