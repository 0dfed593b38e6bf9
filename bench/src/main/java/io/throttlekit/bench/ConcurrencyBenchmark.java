package io.throttlekit.bench;

import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Program;
import io.throttlekit.simulator.concurrency.ConcurrencyReport;
import io.throttlekit.simulator.concurrency.Contenders;
import io.throttlekit.simulator.concurrency.LongReport;
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
  public static final Set<String> FLAGS =
      Set.of("review", "search", "sweep", "fine", "long", "fleets");

  private static final Set<String> MODES = Set.of("review", "search", "sweep", "long", "fleets");
  private static final int SEEDS = 5;
  private static final int FEW_SEEDS = 2; // of runs of many minutes
  private static final Pattern OURS = Pattern.compile("ProbedVegas");

  private ConcurrencyBenchmark() {}

  /**
   * Prints a Markdown table, then one line of JSON; with {@code --svg DIR} also writes the curves.
   * A flag selects another comparison, for seeds from {@code --seed} on:
   *
   * <ul>
   *   <li>{@code --review}: algorithms beside the best fixed limit; {@code --search} finds that
   *       limit
   *   <li>{@code --sweep}: our default algorithm beside the best fixed limit at loads around the
   *       capacity, of which {@code --fine} takes each hundredth; {@code --svg DIR} draws a part of
   *       it
   *   <li>{@code --long}: half an hour at the capacity and above
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
    List<String> modes = MODES.stream().filter(arguments::flag).sorted().toList();
    if (modes.size() > 1) {
      throw new IllegalArgumentException(
          "--" + String.join(" and --", modes) + " exclude each other");
    }
    String mode = modes.isEmpty() ? "" : modes.getFirst();
    boolean longer = mode.equals("sweep") || mode.equals("long");
    int seeds = arguments.integer("seeds", 1, longer ? FEW_SEEDS : SEEDS);
    int first = arguments.integer("seed", 1, 1);
    Pattern only = arguments.pattern("only", Names.ANY);
    Pattern algorithms = arguments.pattern("algorithms", Names.ANY);
    String folder = arguments.text("svg", "");
    return switch (mode) {
      case "review" ->
          () -> System.out.print(ReviewReport.of(only, algorithms, first, seeds).markdown());
      case "search" -> () -> System.out.print(ReviewReport.search(only, first, seeds));
      case "sweep" -> sweep(arguments, first, seeds, folder);
      case "long" -> {
        Pattern compared = arguments.pattern("algorithms", Contenders.WINDOWED);
        yield () -> System.out.print(LongReport.of(only, compared, first, seeds).markdown());
      }
      case "fleets" -> {
        boolean fine = arguments.flag("fine");
        yield () -> System.out.print(FleetReport.of(fine, only, first, seeds).markdown());
      }
      default -> () -> printTable(folder, seeds);
    };
  }

  private static Program sweep(Arguments arguments, int first, int seeds, String folder) {
    boolean fine = arguments.flag("fine");
    if (folder.isEmpty()) {
      Pattern only = arguments.pattern("only", Names.ANY);
      Pattern algorithms = arguments.pattern("algorithms", OURS);
      return () -> SweepReport.of(fine, only, algorithms, first, seeds).print(System.out::print);
    }
    Pattern only = arguments.pattern("only", SweepReport.DRAWN);
    Pattern algorithms = arguments.pattern("algorithms", Contenders.WINDOWED);
    return () ->
        SweepReport.of(fine, only, algorithms, first, seeds)
            .draw(System.out::print, Path.of(folder));
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
