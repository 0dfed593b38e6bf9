package io.throttlekit.bench.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.bench.ChaosBenchmark;
import io.throttlekit.bench.ConcurrencyBenchmark;
import io.throttlekit.bench.LeaseBenchmark;
import io.throttlekit.bench.StartupBenchmark;
import io.throttlekit.bench.comparison.ServiceComparison;
import io.throttlekit.bench.load.LoadGenerator;
import io.throttlekit.bench.sensor.SensorBenchmark;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ProgramTest {
  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream errors = new PrintStream(bytes, true, StandardCharsets.UTF_8);

  @Test
  void aUsageErrorOfAnyProgramIsOneLineAndExitCode2() throws Exception {
    assertThat(load("--rounds", "3")).isEqualTo(2);
    assertThat(load()).isEqualTo(2);
    assertThat(load("example.com:80")).isEqualTo(2);
    assertThat(load("127.0.0.1:http")).isEqualTo(2);
    assertThat(load("127.0.0.1:99999")).isEqualTo(2);
    assertThat(load("127.0.0.1:1", "--rate", "fast")).isEqualTo(2);
    assertThat(load("127.0.0.1:1", "--connections", "0")).isEqualTo(2);
    assertThat(load("127.0.0.1:1", "--pid", "999999999")).isEqualTo(2);
    assertThat(service("--rounds", "0")).isEqualTo(2);
    assertThat(service("all")).isEqualTo(2);
    assertThat(service("--service", "/nowhere/throttlekit")).isEqualTo(2);
    assertThat(startup("--rounds", "3")).isEqualTo(2);
    assertThat(startup("--seconds", "forever")).isEqualTo(2);
    assertThat(sensors("--keys", "3")).isEqualTo(2);
    assertThat(sensors("--connections", "0")).isEqualTo(2);
    assertThat(leases("--rounds", "3")).isEqualTo(2);
    assertThat(leases("all")).isEqualTo(2);
    assertThat(concurrency("--seeds", "0")).isEqualTo(2);
    assertThat(concurrency("--png", "folder")).isEqualTo(2);
    assertThat(concurrency("--review", "--fleets")).isEqualTo(2);
    assertThat(concurrency("--review", "--only", "(")).isEqualTo(2);
    assertThat(concurrency("--sweep", "--long")).isEqualTo(2);
    assertThat(concurrency("--sweep", "--algorithms", "*")).isEqualTo(2);
    assertThat(chaos("--minutes", "0")).isEqualTo(2);
    assertThat(chaos("--json", "--matrix", "all")).isEqualTo(2);
    assertThat(lines()).hasSize(25).allMatch(line -> line.startsWith("bin/bench: "));
  }

  @Test
  void laterFailuresAreReportedInOneLine() throws Exception {
    int code =
        Program.start(
            _ ->
                () -> {
                  throw new IOException("the server has ended");
                },
            Set.of(),
            errors);
    assertThat(code).isEqualTo(1);
    assertThat(load("127.0.0.1:1", "--warm-up", "0", "--requests", "2000")).isEqualTo(1);
    assertThat(lines())
        .satisfiesExactly(
            line -> assertThat(line).isEqualTo("bin/bench: the server has ended"),
            line -> assertThat(line).contains("calls failed"));
  }

  @Test
  void aNameThatMatchesNothingIsReportedWithTheNames() throws Exception {
    for (String mode : List.of("--review", "--search", "--sweep", "--long", "--fleets")) {
      assertThat(concurrency(mode, "--only", "nothing")).isEqualTo(1);
    }
    assertThat(lines())
        .hasSize(5)
        .allMatch(line -> line.startsWith("bin/bench: no name matches nothing: "));
  }

  @Test
  void aTargetThatIsMissedIsNamedAndExitsWith1() throws Exception {
    Target reached = Target.atMost("p99", 5, 3);
    Target missed = Target.atMost("failed", 0, 1);
    assertThat(judged(reached)).isZero();
    assertThat(bytes.size()).isZero();
    assertThat(judged(reached, missed)).isEqualTo(1);
    assertThat(lines()).containsExactly("bin/bench: missed: failed");
  }

  private int judged(Target... targets) throws InterruptedException {
    return Program.start(_ -> () -> Target.require(List.of(targets)), Set.of(), errors);
  }

  @Test
  void aSuccessPrintsNothingAndExitsWith0() throws Exception {
    assertThat(Program.start(_ -> () -> {}, Set.of(), errors)).isZero();
    assertThat(bytes.size()).isZero();
  }

  private int load(String... args) throws InterruptedException {
    return Program.start(LoadGenerator::read, LoadGenerator.OPTIONS, errors, args);
  }

  private int service(String... args) throws InterruptedException {
    return Program.start(ServiceComparison::read, ServiceComparison.OPTIONS, errors, args);
  }

  private int startup(String... args) throws InterruptedException {
    return Program.start(StartupBenchmark::read, StartupBenchmark.OPTIONS, errors, args);
  }

  private int leases(String... args) throws InterruptedException {
    return Program.start(LeaseBenchmark::read, LeaseBenchmark.OPTIONS, errors, args);
  }

  private int sensors(String... args) throws InterruptedException {
    return Program.start(SensorBenchmark::read, SensorBenchmark.OPTIONS, errors, args);
  }

  private int concurrency(String... args) throws InterruptedException {
    return Program.start(
        ConcurrencyBenchmark::read,
        ConcurrencyBenchmark.OPTIONS,
        ConcurrencyBenchmark.FLAGS,
        errors,
        args);
  }

  private int chaos(String... args) throws InterruptedException {
    return Program.start(
        ChaosBenchmark::read, ChaosBenchmark.OPTIONS, ChaosBenchmark.FLAGS, errors, args);
  }

  private List<String> lines() {
    return bytes.toString(StandardCharsets.UTF_8).lines().toList();
  }
}
