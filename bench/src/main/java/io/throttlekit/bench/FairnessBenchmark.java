package io.throttlekit.bench;

import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Program;
import io.throttlekit.simulator.fairness.FairReport;
import java.nio.file.Path;
import java.util.Set;

/** Compares ways to share a limit among tenants in a simulation. */
public final class FairnessBenchmark {
  public static final Set<String> OPTIONS = Set.of("seed", "svg");

  private FairnessBenchmark() {}

  /** Prints Markdown tables; with {@code --svg DIR} also writes the curves. */
  public static void main(String[] args) throws InterruptedException {
    System.exit(Program.start(FairnessBenchmark::read, OPTIONS, System.err, args));
  }

  public static Program read(Arguments arguments) {
    arguments.noWords();
    String folder = arguments.text("svg", "");
    int seed = arguments.integer("seed", 1, 1);
    return () -> {
      FairReport report = FairReport.of(seed);
      if (!folder.isEmpty()) {
        report.draw(Path.of(folder));
      }
      System.out.print(report.markdown());
    };
  }
}
