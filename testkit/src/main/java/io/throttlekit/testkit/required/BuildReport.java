package io.throttlekit.testkit.required;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What the tests of all modules found: prints one line for each module and package, and fails the
 * build when a test failed.
 *
 * <p>Run by the build in its last module, which depends on every module with tests: a test that
 * fails does not fail the build of its own module, so that modules which need that module are
 * tested, too. Arguments are the folder of the parent, when the build began and the version.
 */
public final class BuildReport {
  private static final Pattern MODULE = Pattern.compile("<module>([^<]+)</module>");

  private final Path root;
  private final Instant started;
  private final String version;

  BuildReport(Path root, Instant started, String version) {
    this.root = root;
    this.started = started;
    this.version = version;
  }

  /** Exits with 1 when a test of any module failed. */
  public static void main(String[] args) throws IOException {
    if (!new BuildReport(Path.of(args[0]), Instant.parse(args[1]), args[2]).print(System.out)) {
      System.exit(1);
    }
  }

  /** Returns whether all tests passed. */
  boolean print(Appendable out) throws IOException {
    List<String> failed = new ArrayList<>();
    Map<String, Tally> tallies = new TreeMap<>();
    for (String module : modules()) {
      Path reports = root.resolve(module).resolve("target/surefire-reports");
      if (Files.isDirectory(reports)) {
        for (TestReport report : TestReport.readAll(reports, started)) {
          tallies.merge(module + " " + packageOf(report), Tally.of(report), Tally::plus);
          report.failed().forEach(test -> failed.add(module + ": " + test));
        }
      }
    }
    for (var each : tallies.entrySet()) {
      out.append(each.getValue().line(each.getKey())).append('\n');
    }
    out.append(tallies.values().stream().reduce(Tally.NONE, Tally::plus).line("all")).append('\n');
    for (String test : failed) {
      out.append("[ERROR] failed: ").append(test).append('\n');
    }
    return failed.isEmpty();
  }

  /**
   * Returns the modules of the parent that have tests.
   *
   * @throws IllegalStateException when the report may be written before the tests of one ran, or a
   *     failed test fails its own module
   */
  private List<String> modules() throws IOException {
    String parent = Files.readString(root.resolve("pom.xml"));
    if (!parent.contains(":test-report:" + version + ")")) {
      throw new IllegalStateException("testFailureIgnore in pom.xml does not name " + version);
    }
    String report = Files.readString(root.resolve("testkit/report/pom.xml"));
    List<String> modules = new ArrayList<>();
    Matcher module = MODULE.matcher(parent);
    while (module.find()) {
      String name = module.group(1);
      if (Files.isDirectory(root.resolve(name).resolve("src/test"))) {
        if (!report.contains("<artifactId>" + name + "</artifactId>")) {
          throw new IllegalStateException("testkit/report/pom.xml does not depend on " + name);
        }
        modules.add(name);
      }
    }
    return modules;
  }

  private static String packageOf(TestReport report) {
    return report.test().replaceFirst("\\.[^.]+$", "").replaceFirst("^io\\.throttlekit\\.?", "");
  }

  private record Tally(int classes, int tests, int skipped, int failed, double seconds) {
    private static final Tally NONE = new Tally(0, 0, 0, 0, 0);

    static Tally of(TestReport report) {
      return new Tally(1, report.ran(), report.skipped(), report.failed().size(), report.seconds());
    }

    Tally plus(Tally other) {
      return new Tally(
          classes + other.classes,
          tests + other.tests,
          skipped + other.skipped,
          failed + other.failed,
          seconds + other.seconds);
    }

    String line(String name) {
      return "%-44s %4d classes %6d tests %8.1f s%s%s"
          .formatted(
              name,
              classes,
              tests,
              seconds,
              skipped == 0 ? "" : ", " + skipped + " skipped",
              failed == 0 ? "" : ", " + failed + " FAILED");
    }
  }
}
