package io.throttlekit.simulator.fairness;

import io.throttlekit.lease.sizing.LeaseSize;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** The classic picture in one process, three processes and three regions. */
final class FleetShares {
  private final List<List<FairCourse>> courses;
  private final List<SizeRow> sizes;

  /**
   * One way to decide requests.
   *
   * @param drawn whether its curves are drawn
   */
  private record Way(Sharing sharing, boolean drawn) {}

  /** Fleets that differ in where a tenant's requests go, with one way to lease. */
  private record SizeRow(String name, List<FairCourse> courses) {}

  private FleetShares(List<List<FairCourse>> courses, List<SizeRow> sizes) {
    this.courses = courses;
    this.sizes = sizes;
  }

  /** Plays the scenarios in which a tenant comes back. */
  static FleetShares of(long seed) {
    List<List<FairCourse>> courses = new ArrayList<>();
    for (FairScenario scenario : List.of(FairScenario.sameWindow(), FairScenario.nextWindow())) {
      courses.add(
          ways().stream().map(way -> FairCourse.play(scenario, way.sharing(), seed)).toList());
    }
    List<SizeRow> sizes =
        List.of(
            row("1", new LeaseSize.Fixed(1), FleetShape.RETURN_MILLIS, seed),
            row("10", new LeaseSize.Fixed(10), FleetShape.RETURN_MILLIS, seed),
            row("50", new LeaseSize.Fixed(50), FleetShape.RETURN_MILLIS, seed),
            row("50, kept until the window ends", new LeaseSize.Fixed(50), 0, seed),
            row("`adaptive`", new LeaseSize.Adaptive(), FleetShape.RETURN_MILLIS, seed),
            row("`adaptive`, kept until the window ends", new LeaseSize.Adaptive(), 0, seed));
    return new FleetShares(courses, sizes);
  }

  private static List<Way> ways() {
    List<Way> ways = new ArrayList<>();
    ways.add(new Way(Sharing.firstCome().named("1 process: first come"), true));
    ways.add(new Way(Sharing.staticLimits().named("1 process: own limits"), false));
    ways.add(new Way(Sharing.fair().named("1 process: fair"), true));
    add(ways, "3 processes", FleetShape.ofProcesses());
    add(ways, "3 regions", FleetShape.ofRegions());
    return ways;
  }

  private static void add(List<Way> ways, String name, FleetShape shape) {
    FleetShape skewed = shape.with(Spread.SKEWED);
    ways.add(new Way(skewed.sharing(name + ": first come", Division.FIRST_COME), true));
    ways.add(new Way(skewed.sharing(name + ": own limits", Division.STATIC), false));
    for (Spread spread : Spread.values()) {
      String fair = "%s: fair, %s".formatted(name, spread.word());
      ways.add(new Way(shape.with(spread).sharing(fair, Division.FAIR), spread != Spread.MOVING));
    }
  }

  private static SizeRow row(String name, LeaseSize size, long returnAfterMillis, long seed) {
    List<FairCourse> courses = new ArrayList<>();
    for (FleetShape places : List.of(FleetShape.ofProcesses(), FleetShape.ofRegions())) {
      for (Spread spread : Spread.values()) {
        FleetShape shape = places.with(spread).with(size, returnAfterMillis);
        Sharing sharing = shape.sharing(name, Division.FAIR);
        courses.add(FairCourse.play(FairScenario.slowly(), sharing, seed));
      }
    }
    return new SizeRow(name, courses);
  }

  /** Returns Markdown tables. */
  String markdown() {
    StringBuilder text =
        new StringBuilder(
            """

            | scenario | sharing | used of what is possible | Jain's index | worst shortfall | in units | calls per request |
            |---|---|---|---|---|---|---|
            """);
    courses.stream().flatMap(List::stream).forEach(course -> text.append(line(course)));
    text.append(
        """

        | units of a lease | 3 processes: even | 10:1 | moving | 3 regions: even | 10:1 | moving |
        |---|---|---|---|---|---|---|
        """);
    for (SizeRow row : sizes) {
      text.append(
          row.courses().stream()
              .map(course -> Long.toString(course.worstMissing()))
              .collect(Collectors.joining(" | ", "| " + row.name() + " | ", " |\n")));
    }
    return text.toString();
  }

  private static String line(FairCourse course) {
    return String.format(
        Locale.ROOT,
        "| %s | %s | %.3f | %.3f | %.1f %% | %d | %.3f |\n",
        course.scenario().name(),
        course.sharing().name(),
        course.utilization(),
        course.jain(),
        100 * course.worstShortfall(),
        course.worstMissing(),
        course.callsPerRequest());
  }

  /** Writes a drawing of each scenario. */
  void draw(Path folder) throws IOException {
    List<Way> ways = ways();
    for (List<FairCourse> scenario : courses) {
      List<FairCourse> drawn = new ArrayList<>();
      for (int i = 0; i < ways.size(); i++) {
        if (ways.get(i).drawn()) {
          drawn.add(scenario.get(i));
        }
      }
      String name = "fleets-" + drawn.getFirst().scenario().name() + ".svg";
      Files.writeString(folder.resolve(name), FairCurves.of(drawn));
    }
  }
}
