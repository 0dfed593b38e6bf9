package io.throttlekit.bench.failover;

import io.throttlekit.bench.command.Arguments;
import io.throttlekit.bench.command.Program;
import io.throttlekit.testkit.TemporaryFolder;
import io.throttlekit.testkit.envoy.EnvoyProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;

/** Counts the requests that pass without a limit while a replica fails, by Envoy's settings. */
public final class FailoverBenchmark {
  public static final Set<String> OPTIONS =
      Set.of("replicas", "rate", "seconds", "drain-seconds", "runs", "timeout-millis");

  private final int replicas;
  private final int rate;
  private final Duration length;
  private final Duration drain;
  private final Duration timeout;

  private FailoverBenchmark(Arguments arguments) {
    replicas = arguments.integer("replicas", 2, 2);
    rate = arguments.integer("rate", 1, 40);
    length = arguments.seconds("seconds", 3, 15);
    drain = arguments.seconds("drain-seconds", 0, 5);
    timeout = Duration.ofMillis(arguments.integer("timeout-millis", 1, 100));
  }

  /**
   * {@code [--replicas 2] [--rate 40] [--seconds 15] [--drain-seconds 5] [--timeout-millis 100]
   * [--runs 3]}.
   *
   * <p>The fault begins after a third of the seconds. Prints a Markdown table.
   */
  public static void main(String[] args) throws InterruptedException {
    System.exit(Program.start(FailoverBenchmark::read, OPTIONS, System.err, args));
  }

  public static Program read(Arguments arguments) {
    arguments.noWords();
    FailoverBenchmark benchmark = new FailoverBenchmark(arguments);
    int runs = arguments.integer("runs", 1, 3);
    return () -> benchmark.run(runs);
  }

  private void run(int runs) throws IOException, InterruptedException {
    Map<ReplicaFault, List<List<Passed>>> all = new EnumMap<>(ReplicaFault.class);
    int before = 0;
    for (ReplicaFault fault : ReplicaFault.values()) {
      List<List<Passed>> results = new ArrayList<>();
      for (int i = 0; i < runs; i++) {
        List<Passed> result = once(fault);
        before += result.stream().mapToInt(Passed::before).sum();
        results.add(result);
      }
      all.put(fault, results);
    }
    System.out.print(table(all));
    System.out.printf(
        Locale.ROOT,
        "%nMedian of %d runs, %d replicas, %d requests/s through each Envoy. In each cell: requests"
            + " that passed after the fault, and seconds until the last of them. Before the faults"
            + " %d of all requests passed.%n",
        runs,
        replicas,
        rate,
        before);
  }

  private List<Passed> once(ReplicaFault fault) throws IOException, InterruptedException {
    Path folder = Files.createTempDirectory("throttlekit");
    try (FailoverRun run =
        FailoverRun.start(
            replicas, drain, CallSettings.ALL, EnvoyProgram.path(), rate, timeout, folder)) {
      run.warm();
      return run.fail(fault, length);
    } finally {
      TemporaryFolder.delete(folder);
    }
  }

  private static String table(Map<ReplicaFault, List<List<Passed>>> all) {
    StringBuilder table = new StringBuilder("| settings |");
    all.keySet().forEach(fault -> table.append(' ').append(fault.words()).append(" |"));
    table.append("\n|---").append("|---".repeat(all.size())).append("|\n");
    for (int row = 0; row < CallSettings.ALL.size(); row++) {
      table.append("| ").append(CallSettings.ALL.get(row).name()).append(" |");
      int index = row;
      all.values()
          .forEach(runs ->
              table
                  .append(' ')
                  .append(median(runs.stream().map(run -> run.get(index)).toList()))
                  .append(" |"));
      table.append('\n');
    }
    return table.toString();
  }

  private static String median(List<Passed> runs) {
    List<Passed> sorted = runs.stream().sorted(Comparator.comparingInt(Passed::passed)).toList();
    Passed median = sorted.get(sorted.size() / 2);
    String passed =
        median.passed() == 0
            ? "0"
            : String.format(Locale.ROOT, "%d (%.1f s)", median.passed(), median.lastSeconds());
    // Neither 200 nor 429, such as without a connection to Envoy: errors of the measurement.
    return median.failed() == 0 ? passed : passed + ", " + median.failed() + " failed";
  }
}
