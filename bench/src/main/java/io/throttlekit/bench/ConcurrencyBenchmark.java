package io.throttlekit.bench;

import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Program;
import io.throttlekit.simulator.concurrency.ConcurrencyReport;
import io.throttlekit.simulator.concurrency.Names;
import io.throttlekit.simulator.concurrency.ReviewReport;
import io.throttlekit.simulator.concurrency.SweepReport;
import io.throttlekit.simulator.fleet.FleetReport;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/** Compares limit algorithms in a simulation with several seeds. */
public final class ConcurrencyBenchmark {
  public static final Set<String> OPTIONS = Set.of("seeds", "seed", "svg", "only", "algorithms");
  public static final Set<String> FLAGS = Set.of("review", "search", "fleets", "sweep", "fine");

  private static final int SEEDS = 5;
  private static final int SWEEP_SEEDS = 2; // each takes minutes
  private static final Set<String> MODES = Set.of("review", "search", "fleets", "sweep");
  private static final Pattern OURS = Pattern.compile("ProbedVegas");

  private ConcurrencyBenchmark() {}

  /**
   * Prints a Markdown table, then one line of JSON; with {@code --svg DIR} also writes the curves.
   * A flag selects another comparison, for seeds from {@code --seed} on:
   *
   * <ul>
   *   <li>{@code --review}: algorithms beside the best fixed limit; {@code --search} finds that
   *       limit
   *   <li>{@code --sweep}: our default algorithm beside the best fixed limit, at loads around the
   *       capacity; {@code --fine} for each hundredth
   *   <li>{@code --fleets}: fleets beside one process
   * </ul>
   *
   * <p>{@code --only} and {@code --algorithms} are regular expressions that choose its rows and its
   * columns.
   */
  public static void main(String[] args) throws InterruptedException {
    System.exit(Program.start(ConcurrencyBenchmark::read, OPTIONS, FLAGS, System.err, args));
  }

  public static Program read(Arguments arguments) {
    arguments.noWords();
    int seeds = arguments.integer("seeds", 1, arguments.flag("sweep") ? SWEEP_SEEDS : SEEDS);
    String folder = arguments.text("svg", "");
    int first = arguments.integer("seed", 1, 1);
    Pattern only = arguments.pattern("only", Names.ANY);
    Pattern algorithms =
        arguments.pattern("algorithms", arguments.flag("sweep") ? OURS : Names.ANY);
    boolean fine = arguments.flag("fine");
    List<String> modes = MODES.stream().filter(arguments::flag).sorted().toList();
    if (modes.size() > 1) {
      throw new IllegalArgumentException(
          "--" + String.join(" and --", modes) + " exclude each other");
    }
    return switch (modes.isEmpty() ? "" : modes.getFirst()) {
      case "fleets" -> () -> System.out.print(FleetReport.of(first, seeds).markdown());
      case "review" ->
          () -> System.out.print(ReviewReport.of(only, algorithms, first, seeds).markdown());
      case "search" -> () -> System.out.print(ReviewReport.search(only, first, seeds));
      case "sweep" ->
          () -> SweepReport.of(fine, only, algorithms, first, seeds).print(System.out::print);
      default -> () -> printTable(folder, seeds);
    };
  }

  private static void printTable(String folder, int seeds) throws IOException {
    ConcurrencyReport report = ConcurrencyReport.of(seeds);
    if (!folder.isEmpty()) {
      report.draw(Path.of(folder));
    }
    System.out.println(report.markdown());
    System.out.println(report.json());
  }
}
