package io.throttlekit.bench;

import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Program;
import io.throttlekit.simulator.concurrency.ConcurrencyReport;
import io.throttlekit.simulator.concurrency.ReviewReport;
import io.throttlekit.simulator.fleet.FleetReport;
import java.nio.file.Path;
import java.util.Set;

/** Compares limit algorithms in a simulation with several seeds. */
public final class ConcurrencyBenchmark {
  public static final Set<String> OPTIONS = Set.of("seeds", "seed", "svg");
  public static final Set<String> FLAGS = Set.of("review", "fleets");

  private static final int SEEDS = 5;

  private ConcurrencyBenchmark() {}

  /**
   * Prints a Markdown table, then one line of JSON; with {@code --svg DIR} also writes the curves.
   * With {@code --review}, prints the tables of the algorithms beside the best fixed limit instead,
   * for seeds from {@code --seed} on. With {@code --fleets}, does the same for fleets beside one
   * process.
   */
  public static void main(String[] args) throws InterruptedException {
    System.exit(Program.start(ConcurrencyBenchmark::read, OPTIONS, FLAGS, System.err, args));
  }

  public static Program read(Arguments arguments) {
    arguments.noWords();
    int seeds = arguments.integer("seeds", 1, SEEDS);
    String folder = arguments.text("svg", "");
    int first = arguments.integer("seed", 1, 1);
    if (arguments.flag("fleets")) {
      return () -> System.out.print(FleetReport.of(first, seeds).markdown());
    }
    if (arguments.flag("review")) {
      return () -> System.out.print(ReviewReport.of(first, seeds).markdown());
    }
    return () -> {
      ConcurrencyReport report = ConcurrencyReport.of(seeds);
      if (!folder.isEmpty()) {
        report.draw(Path.of(folder));
      }
      System.out.println(report.markdown());
      System.out.println(report.json());
    };
  }
}
