package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The training before the first start of {@code bin/throttlekit}, on a java that is a script. */
@Timeout(60)
class AotTrainingTest {
  private static final String PREPARING = "throttlekit: preparing a faster start, once per build\n";

  @TempDir private Path folder;
  private ProgramHome program = ProgramHome.NONE;

  @BeforeEach
  void copyTheProgram() throws IOException {
    program = ProgramHome.in(folder);
    program.jar();
  }

  @ParameterizedTest
  @CsvSource({"TERM, 0", "INT, 0", "HUP, 129"})
  void aStopDuringItEndsEverythingAndLeavesNothing(String signal, int code) throws Exception {
    program.java(
        "sleep 300 & echo $! >HOME/child; echo $$ >HOME/trained; trap '' TERM; wait; wait");
    Process serve = program.start("serve");
    await().until(() -> Files.exists(program.home().resolve("trained")));

    send(signal, serve.pid());
    assertThat(serve.waitFor(20, TimeUnit.SECONDS)).isTrue();

    assertThat(serve.exitValue()).isEqualTo(code);
    for (String file : List.of("trained", "child")) {
      long pid = Long.parseLong(Files.readString(program.home().resolve(file)).strip());
      await().atMost(Duration.ofSeconds(10)).until(() -> hasEnded(pid));
    }
    assertThat(program.temporary()).isEmptyDirectory();
    assertThat(program.home().resolve(".aot")).isEmptyDirectory();
    assertThat(program.out()).isEmpty();
  }

  @Test
  void aCacheOfEnoughRequestsIsMadeOnce() throws Exception {
    program.java(training("50000"));
    assertThat(program.run("serve").errors()).isEqualTo(PREPARING);
    assertThat(caches()).singleElement().asString().endsWith(".aot");
    ProgramHome.Ended second = program.run("serve");
    assertThat(second.errors()).isEmpty();
    assertThat(second.out()).contains("-XX:AOTCache=" + caches().getFirst());
    assertThat(program.temporary()).isEmptyDirectory();
  }

  @Test
  void aCacheOfFewRequestsIsNotKeptAndTriedAgainAtTheNextStart() throws Exception {
    program.java(training("49999"));
    for (int start = 0; start < 2; start++) {
      ProgramHome.Ended served = program.run("serve");
      assertThat(served.errors())
          .isEqualTo(
              PREPARING
                  + "throttlekit: no faster start: the training answered 49999 requests, not 50000;"
                  + " the next start tries again\n");
      assertThat(served.code()).isZero();
      assertThat(served.out()).startsWith("run ").doesNotContain("AOTCache");
      assertThat(caches()).isEmpty();
    }
    program.java(training("200000"));
    assertThat(program.run("serve").out()).contains("-XX:AOTCache=");
  }

  @Test
  void aTrainingThatMakesNoCacheIsTriedAgainAtTheNextStart() throws Exception {
    program.java("exit 1");
    for (int start = 0; start < 2; start++) {
      assertThat(program.run("serve").errors())
          .isEqualTo(
              PREPARING
                  + "throttlekit: no faster start: the cache could not be made; the next start"
                  + " tries again\n");
      assertThat(caches()).isEmpty();
    }
  }

  @Test
  void aServiceThatWouldNotStartIsNotPreparedForAndSaysWhyOnce() throws Exception {
    program.java(training("200000"), "echo 'no such store' >&2; exit 2");
    ProgramHome.Ended ended = program.run("serve", "--store", "http://x");
    assertThat(ended.errors()).isEmpty();
    assertThat(ended.out()).startsWith("run ").endsWith(" serve --store http://x\n");
    assertThat(caches()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"--config with-redis.yaml", "--config=with-redis.yaml"})
  void theServiceItselfSaysForWhichCountersToPrepare(String config) throws Exception {
    program.java(
        training("200000"), "case $* in *with-redis*) echo shared ;; *) echo memory ;; esac");
    program.run("serve");
    for (int start = 0; start < 2; start++) {
      ProgramHome.Ended ended = program.run(("serve " + config).split(" "));
      assertThat(ended.errors()).isEqualTo(start == 0 ? PREPARING : "");
      assertThat(ended.out()).contains("-XX:AOTCache=" + program.home() + "/.aot/shared-");
    }
    assertThat(caches()).hasSize(2);
  }

  @Test
  void whereACacheIsThatSeemsToFitNobodyIsAsked() throws Exception {
    program.java(training("200000"));
    program.run("serve");
    program.java("exit 1", "echo asked >HOME/asked".replace("HOME", "'" + program.home() + "'"));
    assertThat(program.run("serve").out()).contains("-XX:AOTCache=");
    assertThat(program.home().resolve("asked")).doesNotExist();
  }

  @Test
  void cachesOfEarlierVersionsOfTheProgramGoWhenThereIsANewOne() throws Exception {
    Path caches = Files.createDirectories(program.home().resolve(".aot"));
    Files.createFile(caches.resolve("293754501210924.aot"));
    Files.createFile(caches.resolve("293754501210924.failed"));
    program.java(training("200000"));
    program.run("serve");
    assertThat(caches()).singleElement().asString().contains("/memory-");
  }

  @ParameterizedTest
  @ValueSource(strings = {"serve --print-config", "serve --help", "serve -h", "check policies"})
  void whatDoesNotServeNeedsNoTraining(String arguments) throws Exception {
    program.java(training("200000"));
    ProgramHome.Ended ended = program.run(arguments.split(" "));
    assertThat(ended.errors()).isEmpty();
    assertThat(ended.out()).startsWith("run ").contains(arguments);
    assertThat(program.home().resolve(".aot")).doesNotExist();
  }

  /** A training that says what the service says, and writes a cache when it is stopped. */
  private static String training(String requests) {
    return "trap 'echo cache >\"$cache\"; exit 0' TERM\n"
        + "echo 'INFO warmed up with "
        + requests
        + " requests' >&2\n"
        + "echo 'ready grpc=127.0.0.1:1'\n"
        + "while :; do sleep 0.05; done";
  }

  private List<Path> caches() throws IOException {
    try (Stream<Path> files = Files.list(program.home().resolve(".aot"))) {
      return files.toList();
    }
  }

  private static void send(String signal, long pid) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + signal, Long.toString(pid)).start().waitFor();
  }

  /** Also when it is only waited for by nobody, as an orphan in a container can be. */
  private static boolean hasEnded(long pid) throws IOException {
    Path state = Path.of("/proc", Long.toString(pid), "stat");
    try {
      return Files.readString(state).contains(") Z ");
    } catch (IOException gone) {
      return true;
    }
  }
}
