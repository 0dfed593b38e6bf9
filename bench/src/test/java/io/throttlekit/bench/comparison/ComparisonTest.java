package io.throttlekit.bench.comparison;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.throttlekit.bench.server.ServerProcess;
import io.throttlekit.bench.server.Servers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@EnabledOnOs(OS.LINUX)
@Tag("process")
class ComparisonTest {
  private static final List<String> JVM =
      List.of("-Xmx64m", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED");

  @TempDir Path folder;

  @Test
  void measuresTwoProcessesInTurn() throws IOException, InterruptedException {
    ComparisonPlan plan =
        new ComparisonPlan(Duration.ofSeconds(1), 1, Duration.ofSeconds(1), 2, 8, 100);
    Servers servers = new Servers(Path.of("unused"), folder);
    try (Contender first = new Contender(servers.noOp(JVM), plan);
        Contender second = new Contender(servers.noOp(JVM), plan)) {
      ComparisonReport report = new Comparison(plan).run(first, second);
      assertThat(List.of(report.noOp(), report.service()))
          .allSatisfy(figures -> {
            assertThat(figures.peakPerSecond()).isPositive();
            assertThat(figures.peakCpuMicros()).isPositive();
            assertThat(figures.halfLoadP99Millis()).isPositive();
            assertThat(figures.allocatedBytes()).isGreaterThan(100);
            assertThat(figures.residentBytes()).isGreaterThan(1_000_000);
          });
    }
  }

  @Test
  void aServerThatEndsBeforeItIsReadyIsReported() {
    List<String> command = List.of("sh", "-c", "echo nothing to serve");
    assertThatThrownBy(
            () -> ServerProcess.start("broken", command, Map.of(), folder.resolve("log").toFile()))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("broken ended before it was ready");
  }

  @Test
  void failuresToCreateCachesAreIgnored() throws IOException, InterruptedException {
    Path calls = folder.resolve("calls");
    Path program = folder.resolve("program");
    Files.writeString(program, "#!/bin/sh\necho \"$@\" >>" + calls + "\n[ $2 = memory ]\n");
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    new Servers(program, folder).makeCaches("memory", "shared");
    assertThat(calls).hasContent("train-cache memory\ntrain-cache shared");
  }

  @Test
  void theNoOpServerInheritsJvmOptionsExceptClassPathAndArchive() {
    List<String> running =
        List.of(
            "/usr/bin/java",
            "-XX:AOTCache=x.aot",
            "-Xmx64m",
            "-XX:+UseSerialGC",
            "-Xlog:aot=off",
            "--enable-native-access=ALL-UNNAMED",
            "-cp",
            "a.jar",
            "Main",
            "-Xignored");
    assertThat(Servers.jvmOptions(running)).isEqualTo(JVM);
  }
}
