package io.throttlekit.simulator.fairness;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** Ways to share a limit among tenants, in the same scenarios with the same requests. */
public final class FairReport {
  private static final int MAX_DRAWN = 100; // more windows than a drawing can show

  /** Tenants of these weights as published, with demands that are not known. */
  private static final String PUBLISHED =
      """

      | published, idle in every fifth window | used of the limit | violations | spread |
      |---|---|---|---|
      | a limit for each tenant | 0.876 | 0 | 0 |
      | without weights | 1.000 | 0.211 | 13.50 |
      | weighted fair escrow | 1.000 | 0 | 1.00 |
      """;

  private final List<List<FairCourse>> courses;
  private final FleetShares fleets;

  private FairReport(List<List<FairCourse>> courses, FleetShares fleets) {
    this.courses = courses;
    this.fleets = fleets;
  }

  /** Plays all scenarios; takes half a minute. */
  public static FairReport of(long seed) {
    return new FairReport(
        FairScenario.all().stream()
            .map(scenario ->
                Sharing.all().stream()
                    .map(sharing -> FairCourse.play(scenario, sharing, seed))
                    .toList())
            .toList(),
        FleetShares.of(seed));
  }

  /** Returns Markdown tables. */
  public String markdown() {
    StringBuilder text =
        new StringBuilder(
            """
            | scenario | sharing | used of what is possible | Jain's index | worst shortfall |
            |---|---|---|---|---|
            """);
    for (List<FairCourse> scenario : courses) {
      for (FairCourse course : scenario) {
        text.append(
            String.format(
                Locale.ROOT,
                "| %s | %s | %.3f | %.3f | %.1f %% |\n",
                course.scenario().title(),
                course.sharing().name(),
                course.utilization(),
                course.jain(),
                100 * course.worstShortfall()));
      }
    }
    return text.append(PUBLISHED).append(fleets.markdown()).toString();
  }

  /** Writes a drawing of each scenario with few windows, named after it. */
  public void draw(Path folder) throws IOException {
    Files.createDirectories(folder);
    for (List<FairCourse> scenario : courses) {
      if (scenario.getFirst().scenario().windows() <= MAX_DRAWN) {
        String name = scenario.getFirst().scenario().name();
        Files.writeString(folder.resolve(name + ".svg"), FairCurves.of(scenario));
      }
    }
    fleets.draw(folder);
  }
}
