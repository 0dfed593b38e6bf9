package io.throttlekit.bench;

import io.throttlekit.bench.chaos.Campaign;
import io.throttlekit.bench.chaos.Matrix;
import io.throttlekit.bench.chaos.Report;
import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Program;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.SplittableRandom;

/** Injects random faults into three regions of real processes, or each fault by itself. */
public final class ChaosBenchmark {
  public static final Set<String> OPTIONS = Set.of("minutes", "seed", "folder");
  public static final Set<String> FLAGS = Set.of("json", "matrix");

  // A day.
  private static final int MAX_MINUTES = 24 * 60;

  private ChaosBenchmark() {}

  /** Prints a line for each fault, then a Markdown table; with {@code --json} one line of JSON. */
  public static void main(String[] args) throws InterruptedException {
    System.exit(Program.start(ChaosBenchmark::read, OPTIONS, FLAGS, System.err, args));
  }

  public static Program read(Arguments arguments) {
    arguments.noWords();
    int minutes = Math.min(arguments.integer("minutes", 1, 5), MAX_MINUTES);
    long seed = arguments.number("seed", 0, new SplittableRandom().nextInt(1 << 20));
    Path folder = Path.of(arguments.text("folder", "bench/target/chaos"));
    boolean json = arguments.flag("json");
    PrintStream log = json ? System.err : System.out;
    if (arguments.flag("matrix")) {
      return () -> finish(new Matrix(folder).run(log), json);
    }
    Campaign campaign = new Campaign(seed, Duration.ofMinutes(minutes), folder);
    return () -> finish(campaign.run(log), json);
  }

  private static void finish(Report report, boolean json) {
    System.out.println(json ? report.json() : report.markdown());
    List<String> problems = new ArrayList<>(report.problems());
    problems.addAll(report.unjudged());
    if (report.overshoot() > 0 || !problems.isEmpty()) {
      throw new IllegalStateException(
          "%d units beyond limits, and %d problems %s: repeat with %s"
              .formatted(report.overshoot(), problems.size(), problems, report.repeat()));
    }
  }
}
