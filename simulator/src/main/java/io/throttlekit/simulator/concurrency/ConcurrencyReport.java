package io.throttlekit.simulator.concurrency;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The results of every limit algorithm in every scenario. They are the same on every machine,
 * except for Netflix's Vegas, which draws random numbers of its own.
 */
public final class ConcurrencyReport {
  private final List<ContenderResult> results;

  private ConcurrencyReport(List<ContenderResult> results) {
    this.results = results;
  }

  /**
   * Runs all scenarios; takes a minute or more.
   *
   * @param seeds number of runs, from 1; each figure is the worst of them
   */
  public static ConcurrencyReport of(int seeds) {
    return of(Scenarios.all(), Contenders.all(), seeds);
  }

  /** Runs some scenarios. */
  static ConcurrencyReport of(List<Scenario> scenarios, List<Contender> contenders, int seeds) {
    return new ConcurrencyReport(ContenderResult.all(scenarios, contenders, seeds));
  }

  /**
   * Returns a Markdown table with a row for each target and a column for each algorithm; ✗ marks a
   * missed target.
   */
  public String markdown() {
    List<ContenderResult> firsts = of(results.getFirst().scenario());
    String names =
        firsts.stream().map(one -> one.contender().name()).collect(Collectors.joining(" | "));
    StringBuilder table = new StringBuilder("| target | | " + names + " |\n|---|---|");
    table.append("---|".repeat(firsts.size())).append('\n');
    for (Scenario scenario : scenarios()) {
      for (int i = 0; i < scenario.targets().size(); i++) {
        table.append(row(scenario, i));
      }
    }
    return table.toString();
  }

  /** Returns one JSON object on one line. */
  public String json() {
    String all = scenarios().stream().map(this::json).collect(Collectors.joining(","));
    return "{\"scenarios\":[" + all + "]}";
  }

  /** Writes the curves of each scenario to a file. */
  public void draw(Path folder) throws IOException {
    Files.createDirectories(folder);
    for (Scenario scenario : scenarios()) {
      Files.writeString(
          folder.resolve(scenario.name() + ".svg"), Curves.of(scenario, of(scenario)));
    }
  }

  private String row(Scenario scenario, int index) {
    Target target = scenario.targets().get(index);
    String cells =
        of(scenario).stream()
            .map(one -> cell(target, one.figures().get(index)))
            .collect(Collectors.joining(" | "));
    return "| %s %s | %s | %s |%n"
        .formatted(target.id(), target.what(), target.wanted(), cells)
        .replace(System.lineSeparator(), "\n");
  }

  private static String cell(Target target, double figure) {
    if (Double.isNaN(figure)) {
      return "– ✗";
    }
    return Target.shown(figure) + (target.reachedBy(figure) ? "" : " ✗");
  }

  private String json(Scenario scenario) {
    String algorithms =
        of(scenario).stream()
            .map(one ->
                "{\"algorithm\":\"%s\",\"figures\":[%s]}"
                    .formatted(one.contender().name(), numbers(one.figures())))
            .collect(Collectors.joining(","));
    String targets =
        scenario.targets().stream()
            .map(t -> "\"" + t.id() + " " + t.what() + " " + t.wanted() + "\"")
            .collect(Collectors.joining(","));
    return "{\"name\":\"%s\",\"targets\":[%s],\"algorithms\":[%s]}"
        .formatted(scenario.name(), targets, algorithms);
  }

  private static String numbers(List<Double> figures) {
    return figures.stream()
        .map(f -> f.isNaN() ? "null" : String.format(Locale.ROOT, "%.4f", f))
        .collect(Collectors.joining(","));
  }

  private List<Scenario> scenarios() {
    return results.stream().map(ContenderResult::scenario).distinct().toList();
  }

  private List<ContenderResult> of(Scenario scenario) {
    return results.stream().filter(one -> one.scenario().equals(scenario)).toList();
  }
}
