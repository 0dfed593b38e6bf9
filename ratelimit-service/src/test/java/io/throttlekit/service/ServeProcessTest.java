package io.throttlekit.service;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.service.cli.CommandLineTool;
import io.throttlekit.service.fleet.ServiceJvm;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the process as scripts see it: lines, signals and exit codes. */
@Tag("process")
class ServeProcessTest {

  private static final Pattern READY =
      Pattern.compile("ready grpc=(\\S+:\\d+) http=\\S+:\\d+ debug=127\\.0\\.0\\.1:\\d+");

  @TempDir private Path folder;

  private final List<Process> processes = new ArrayList<>();

  @AfterEach
  void kill() {
    processes.forEach(Process::destroyForcibly);
  }

  @Test
  void withThePeersEnvironmentItServesAndStopsOnSigtermWithExitCode0() throws Exception {
    Path config = Files.createDirectories(folder.resolve("ratelimit/config"));
    Files.writeString(
        config.resolve("a.yaml"),
        "domain: rl\ndescriptors: [{key: k, rate_limit: {unit: day, algorithm: sliding_log," // no
            + " requests_per_unit: 1}}]\n"); // window that ends at midnight
    Process process =
        serve(
            Map.of(
                "RUNTIME_ROOT", folder.toString(),
                "RUNTIME_SUBDIRECTORY", "ratelimit",
                "REDIS_SOCKET_TYPE", "tcp",
                "USE_STATSD", "false",
                "GRPC_HOST", "127.0.0.1",
                "HOST", "127.0.0.1",
                "GRPC_PORT", "0",
                "PORT", "0",
                "DEBUG_PORT", "0"));
    String target = target(process);
    assertThat(call(target)).startsWith("OK");
    assertThat(call(target)).startsWith("OVER_LIMIT").doesNotContain("Retry-After");
    assertThat(process.toHandle().destroy()).isTrue(); // Process.destroy would close the output
    assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(process.exitValue()).isZero();
    assertThat(Files.readString(folder.resolve("err")))
        .contains("without effect here: REDIS_SOCKET_TYPE (counters are in the memory of this")
        .doesNotContain("\tat ");
    assertThat(process.inputReader().readLine()).isNull();
  }

  @ParameterizedTest
  @ValueSource(strings = {"debug", "info", "warn", "error"})
  void theLastLineLoggedAtAnyLevelIsThatItStopped(String level) throws Exception {
    Path policies = Files.writeString(folder.resolve("p.yaml"), "domain: a\n");
    Process process =
        serve(
            Map.of("GRPC_PORT", "0", "PORT", "0", "DEBUG_PORT", "0", "LOG_LEVEL", level),
            "--policies",
            policies.toString());
    target(process);
    assertThat(process.toHandle().destroy()).isTrue();
    assertThat(exitCode(process)).isZero();
    List<String> log = Files.readAllLines(folder.resolve("err"));
    assertThat(log.getFirst()).contains("own defaults apply").contains(policies.toString());
    assertThat(log).noneMatch(line -> line.contains("\tat "));
    assertThat(log.getLast()).matches(".* info +lifecycle: stopped; draining took \\d+ ms");
  }

  @Test
  void badPoliciesExitWith1AndBadConfigurationWith2() throws Exception {
    Path bad = Files.writeString(folder.resolve("p.yaml"), "domain: a\ndescriptors: [{kee: k}]\n");
    assertThat(exitCode(serve(Map.of(), "--policies", bad.toString()))).isEqualTo(1);
    assertThat(Files.readString(folder.resolve("err")))
        .containsOnlyOnce(bad + ":2:16: error: unknown key")
        .containsPattern("\nerror: no policies: 1 error\n$")
        .doesNotContain("\tat ");
    assertThat(exitCode(serve(Map.of("GRPC_PORT", "x"), "--policies", bad.toString())))
        .isEqualTo(2);
    assertThat(Files.readString(folder.resolve("err")))
        .startsWith("error: env GRPC_PORT: \"x\" is not a port");
    assertThat(exitCode(serve(Map.of()))).isEqualTo(2);
  }

  @Test
  void theReadyLineComesOnceTheFirstPoliciesAreLoaded() throws Exception {
    Path config = Files.createDirectories(folder.resolve("ratelimit/config"));
    Path file = Files.writeString(config.resolve("a.yaml"), "domain: ''\n");
    Process process =
        serve(
            Map.of(
                "RUNTIME_ROOT", folder.toString(),
                "RUNTIME_SUBDIRECTORY", "ratelimit",
                "GRPC_PORT", "0",
                "PORT", "0",
                "DEBUG_PORT", "0"));
    Path log = folder.resolve("err");
    await().until(() -> Files.readString(log).contains("started, but not ready: no policies\n"));
    assertThat(process.inputReader(StandardCharsets.UTF_8).ready()).isFalse();
    Files.writeString(file, "domain: rl\n");
    assertThat(call(target(process))).startsWith("OK");
  }

  private Process serve(Map<String, String> environment, String... arguments) throws IOException {
    Process process =
        ServiceJvm.serve(environment, List.of(), folder, folder.resolve("err"), arguments);
    processes.add(process);
    return process;
  }

  private static String target(Process process) throws IOException {
    BufferedReader lines = process.inputReader(StandardCharsets.UTF_8);
    Matcher ready = READY.matcher(String.valueOf(lines.readLine()));
    assertThat(ready.matches()).isTrue();
    return String.valueOf(ready.group(1));
  }

  private static int exitCode(Process process) throws InterruptedException {
    assertThat(process.waitFor(5, TimeUnit.MINUTES)).isTrue();
    return process.exitValue();
  }

  private static String call(String target) {
    StringWriter out = new StringWriter();
    String[] arguments = {"call", target, "--domain", "rl", "k=v"};
    int code = CommandLineTool.run(arguments, Map.of(), new PrintWriter(out), new PrintWriter(out));
    assertThat(code).as(out.toString()).isIn(0, 3);
    return out.toString();
  }
}
