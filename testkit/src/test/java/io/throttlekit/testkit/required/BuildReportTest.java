package io.throttlekit.testkit.required;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Instant;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BuildReportTest {
  private static final Instant STARTED = Instant.parse("2026-11-21T10:00:00Z");

  @TempDir Path root;

  @BeforeEach
  void aBuildOfThreeModules() throws IOException {
    Files.writeString(
        root.resolve("pom.xml"),
        "<module>engine</module> <module>service</module> <module>no-tests</module>"
            + " (io.throttlekit:test-report:1.0)");
    Files.createDirectories(root.resolve("engine/src/test"));
    Files.createDirectories(root.resolve("service/src/test"));
    Files.createDirectories(root.resolve("no-tests/src/main"));
    dependsOn("<artifactId>engine</artifactId> <artifactId>service</artifactId>");
  }

  @Test
  void printsALineForEachModuleAndPackage() throws IOException {
    report("engine", "io.throttlekit.rate.GcraTest", 3, "");
    report("engine", "io.throttlekit.rate.TokenBucketTest", 2, "");
    report("engine", "io.throttlekit.share.FleetTest", 1, "");
    report("service", "io.throttlekit.service.MainTest", 4, "");
    StringBuilder printed = new StringBuilder();
    assertThat(report("1.0").print(printed)).isTrue();
    assertThat(printed.toString().replaceAll(" +", " ").lines())
        .containsExactly(
            "engine rate 2 classes 5 tests 3.0 s",
            "engine share 1 classes 1 tests 1.5 s",
            "service service 1 classes 4 tests 1.5 s",
            "all 4 classes 10 tests 6.0 s");
  }

  @Test
  void failsWithEveryFailedTestOfEveryModule() throws IOException {
    report("engine", "io.throttlekit.rate.GcraTest", 3, failed("GcraTest", "admits", "failure"));
    report("service", "io.throttlekit.service.MainTest", 4, failed("MainTest", "starts", "error"));
    StringBuilder printed = new StringBuilder();
    assertThat(report("1.0").print(printed)).isFalse();
    assertThat(printed)
        .contains(", 1 FAILED", ", 2 FAILED")
        .contains("[ERROR] failed: engine: GcraTest.admits\n")
        .contains("[ERROR] failed: service: MainTest.starts\n");
  }

  @Test
  void ignoresReportsOfEarlierBuilds() throws IOException {
    Path report =
        report("engine", "io.throttlekit.rate.GcraTest", 3, failed("GcraTest", "a", "error"));
    Files.setLastModifiedTime(report, FileTime.from(STARTED.minusSeconds(1)));
    assertThat(report("1.0").print(new StringBuilder())).isTrue();
  }

  @Test
  void refusesABuildThatMayNotHaveTestedAModuleYet() throws IOException {
    dependsOn("<artifactId>engine</artifactId>");
    assertThatThrownBy(() -> report("1.0").print(new StringBuilder()))
        .hasMessage("testkit/report/pom.xml does not depend on service");
  }

  @Test
  void refusesABuildThatDoesNotGoOnAfterAFailure() {
    assertThatThrownBy(() -> report("1.1").print(new StringBuilder()))
        .hasMessage("testFailureIgnore in pom.xml does not name 1.1");
  }

  private BuildReport report(String version) {
    return new BuildReport(root, STARTED, version);
  }

  private void dependsOn(String dependencies) throws IOException {
    Files.createDirectories(root.resolve("testkit/report"));
    Files.writeString(root.resolve("testkit/report/pom.xml"), dependencies);
  }

  private static String failed(String test, String method, String kind) {
    return "<testcase classname='%s' name='%s'><%s/></testcase>".formatted(test, method, kind);
  }

  private Path report(String module, String test, int tests, String cases) throws IOException {
    Path folder = Files.createDirectories(root.resolve(module).resolve("target/surefire-reports"));
    Path report =
        Files.writeString(
            folder.resolve("TEST-" + test + ".xml"),
            "<testsuite name='%s' tests='%d' skipped='0' time='1.5'>%s</testsuite>"
                .formatted(test, tests, cases));
    return Files.setLastModifiedTime(report, FileTime.from(STARTED.plusSeconds(1)));
  }
}
