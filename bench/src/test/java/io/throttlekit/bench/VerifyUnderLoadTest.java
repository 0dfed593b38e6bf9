package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code bin/verify-under-load} of a small repository, with a Maven that is a shell script. */
@Tag("process")
class VerifyUnderLoadTest {
  private static final Duration SLOW_MACHINE = Duration.ofMinutes(4);

  @TempDir Path folder;
  private Path home;
  private Path programs;

  private record Ended(int code, String printed) {}

  @BeforeEach
  void aRepository() throws Exception {
    Path root = Path.of(System.getProperty("throttlekit.root", ".."));
    home = Files.createDirectories(folder.resolve("home"));
    programs = Files.createDirectories(folder.resolve("programs"));
    Files.createDirectories(home.resolve("bin"));
    Files.copy(root.resolve("bin/verify-under-load"), home.resolve("bin/verify-under-load"));
    assertThat(home.resolve("bin/verify-under-load").toFile().setExecutable(true)).isTrue();
    Ended made =
        run(
            List.of(
                "sh",
                "-c",
                "git init -q . && git add . && git -c user.name=t -c user.email=t@example.org"
                    + " -c commit.gpgsign=false commit -qm first"));
    assumeTrue(made.code == 0, "needs git: " + made.printed);
  }

  @Test
  void printsATableOfTheRuns() throws Exception {
    maven("test -x bin/verify-under-load && echo \"$@\" >>" + folder.resolve("called"));
    Ended ended = script("--busy", "2", "--half", "1");
    assertThat(ended.printed)
        .containsPattern("run +kind +result +seconds +processors +failed tests")
        .containsPattern("1 +busy +passed +\\d+ +\\d+\\.\\d\\d")
        .containsPattern("2 +busy +passed +\\d+ +\\d+\\.\\d\\d")
        .containsPattern("3 +half-(quota|pinned) +passed +\\d+ +\\d+\\.\\d\\d");
    assertThat(ended.code).isZero();
    assertThat(Files.readAllLines(folder.resolve("called")))
        .hasSize(3)
        .allMatch("--batch-mode --no-transfer-progress verify"::equals);
  }

  @Test
  void failsAfterAllRunsIfOneFailedAndKeepsItsLog() throws Exception {
    maven("echo '[ERROR] failed: engine: io.throttlekit.ATest.fails'; echo why; exit 1");
    Path logs = folder.resolve("logs");
    Ended ended = script("--busy", "2", "--half", "0", "--logs", logs.toString(), "test", "-q");
    assertThat(ended.code).isEqualTo(1);
    assertThat(ended.printed)
        .containsPattern("1 +busy +FAILED +\\d+ +\\d+\\.\\d\\d +engine: io.throttlekit.ATest.fails")
        .containsPattern("2 +busy +FAILED");
    assertThat(logs.resolve("1-busy.log")).content().contains("why");
  }

  @Test
  void namesAWrongArgument() throws Exception {
    Ended ended = script("--busy", "many");
    assertThat(ended.code).isEqualTo(2);
    assertThat(ended.printed)
        .isEqualTo(
            "bin/verify-under-load: --busy is a number of runs from 0 to 999, not many;"
                + " --help says more\n");
  }

  @Test
  void itsLoopsEndWhenItIsInterrupted() throws Exception {
    Process script = started();
    List<ProcessHandle> children = script.descendants().toList();
    script.destroy();
    awaitEnd(children);
    assertThat(script.waitFor()).isEqualTo(128 + 15);
  }

  @Test
  void itsLoopsEndWhenItIsKilled() throws Exception {
    Process script = started();
    List<ProcessHandle> children = script.descendants().toList();
    List<ProcessHandle> maven = children.stream().filter(VerifyUnderLoadTest::isMaven).toList();
    List<ProcessHandle> loops = children.stream().filter(each -> !maven.contains(each)).toList();
    assertThat(loops).hasSize(3);
    script.destroyForcibly();
    try {
      awaitEnd(loops);
    } finally {
      maven.forEach(ProcessHandle::destroyForcibly);
    }
  }

  private Process started() throws IOException {
    maven("touch " + folder.resolve("started") + "; exec sleep 600");
    Process script = builder(command("--busy", "1", "--half", "0")).start();
    await().atMost(SLOW_MACHINE).until(() -> Files.exists(folder.resolve("started")));
    await()
        .atMost(SLOW_MACHINE)
        .until(() -> script.descendants().anyMatch(VerifyUnderLoadTest::isMaven));
    return script;
  }

  private static boolean isMaven(ProcessHandle process) {
    return process.info().commandLine().orElse("").endsWith("sleep 600");
  }

  private static void awaitEnd(List<ProcessHandle> processes) {
    await().atMost(SLOW_MACHINE).until(() -> processes.stream().noneMatch(ProcessHandle::isAlive));
  }

  private void maven(String commands) throws IOException {
    Path program = Files.writeString(programs.resolve("mvn"), "#!/bin/sh\n" + commands + "\n");
    assertThat(program.toFile().setExecutable(true)).isTrue();
  }

  private Ended script(String... arguments) throws IOException, InterruptedException {
    return run(command(arguments));
  }

  private List<String> command(String... arguments) {
    List<String> command = new ArrayList<>(List.of(home + "/bin/verify-under-load"));
    command.addAll(List.of(arguments));
    return command;
  }

  private Ended run(List<String> command) throws IOException, InterruptedException {
    Process process = builder(command).start();
    return new Ended(process.waitFor(), Files.readString(folder.resolve("printed")));
  }

  private ProcessBuilder builder(List<String> command) {
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(home.toFile())
            .redirectErrorStream(true)
            .redirectOutput(folder.resolve("printed").toFile());
    builder.environment().merge("PATH", programs.toString(), (path, first) -> first + ':' + path);
    return builder;
  }
}
