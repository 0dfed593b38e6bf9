package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.bench.command.ProgramHome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the training of {@code bin/throttlekit} in the background of a service. */
@Tag("process")
class AotTrainingTest extends AotScene {
  @Test
  void onlyTheSecondStartRunsWithTheCache() throws Exception {
    program.java(training("50000"));
    ProgramHome.Ended first = serveAndTrain("serve");
    assertThat(first.out()).startsWith("run ").doesNotContain("AOTCache");
    assertThat(first.errors()).isEmpty();
    assertThat(caches()).singleElement().asString().startsWith("memory-");
    assertThat(log()).matches("\\S+Z made memory-\\d+\\.aot in \\d+ s, from 50000 requests\\n");
    assertUsesCache("memory", Map.of(), "serve");
  }

  @Test
  void theServiceStartsBeforeItsCacheIsTrained() throws Exception {
    program.java(training("200000"), ASKED_FOR_MEMORY);
    Process serve = program.start(Map.of("THROTTLEKIT_TRAIN_AFTER", "0800"), "serve");
    awaitStart();
    eventually(() -> trainers().size() == 1);
    assertThat(program.home().resolve("asked")).doesNotExist();

    send("TERM", serve.pid());
    eventually(() -> trainers().isEmpty());
    assertThat(program.home().resolve("asked")).doesNotExist();
    assertThat(program.ended(serve).errors()).isEmpty();
    assertThat(program.home().resolve(".aot/training.log")).doesNotExist();
  }

  @Test
  void byDefaultTheTrainingDoesNotStartDuringAShortRun() throws Exception {
    Process serve = program.start(Map.of("THROTTLEKIT_TRAIN_AFTER", ""), "serve");
    awaitStart();
    await()
        .during(Duration.ofMillis(1_500))
        .until(() -> trainers().size() == 1 && files(".aot").isEmpty());
    send("TERM", serve.pid());
  }

  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT", "HUP"})
  void theEndOfTheServiceEndsTheTrainingAndRemovesItsFiles(String signal) throws Exception {
    program.java(HANGING);
    Process serve = program.start("serve");
    endsTheTraining(signal, serve, serve.pid());
  }

  @ParameterizedTest
  @ValueSource(strings = {"TERM", "INT", "HUP"})
  void theEndOfTheServiceEndsTheDryRun(String signal) throws Exception {
    program.java(training("200000"), HANGING);
    Process serve = program.start("serve");
    endsTheTraining(signal, serve, serve.pid());
  }

  @Test
  void aServiceThatEndedAndWasNotReapedCountsAsEnded() throws Exception {
    program.java(HANGING);
    Process parent = program.startUnreaped("serve");
    try {
      eventually(() -> Files.exists(program.home().resolve("hangs")));
      List<Long> services = processes("/jdk/bin/java", "AOTCacheOutput");
      endsTheTraining("KILL", parent, services.getFirst());
      assertThat(parent.isAlive()).isTrue();
    } finally {
      parent.destroyForcibly().waitFor();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"TERM", "HUP"})
  void aSignalToTheTrainerEndsTheTrainingAndNotTheService(String signal) throws Exception {
    program.java(HANGING);
    Process serve = program.start("serve");
    eventually(() -> Files.exists(program.home().resolve("hangs")));
    send(signal, trainers().getFirst());
    assertTrainingEnded();
    assertThat(serve.isAlive()).isTrue();
    Files.delete(program.serving());
    assertThat(program.ended(serve).errors()).isEmpty();
  }

  private void endsTheTraining(String signal, Process started, long service) throws Exception {
    eventually(() -> Files.exists(program.home().resolve("hangs")));
    send(signal, service);
    if (started.pid() == service) {
      assertThat(started.waitFor(5, TimeUnit.MINUTES)).isTrue();
    }
    assertTrainingEnded();
    assertThat(log()).endsWith("Z stopped: the service ended\n");
    assertThat(program.errors()).isEmpty();
  }

  @Test
  void aTrainingHasLowPriorityAndItsOwnStreams() throws Exception {
    program.java("nice >HOME/nice; cat /proc/self/oom_score_adj >HOME/oom; " + HANGING);
    Process serve = program.start("serve");
    eventually(() -> Files.exists(program.home().resolve("hangs")));
    assertThat(program.home().resolve("nice")).hasContent("19");
    assertThat(program.home().resolve("oom")).hasContent("1000");
    List<Long> others = processes("", "\n").stream().filter(pid -> pid != serve.pid()).toList();
    assertThat(others).hasSizeGreaterThan(1);
    for (long pid : others) {
      assertThat(openFiles(pid))
          .contains("/dev/null")
          .noneMatch(file -> file.startsWith("pipe:"))
          .doesNotContain(folder.toRealPath() + "/out", folder.toRealPath() + "/errors");
    }
    send("TERM", serve.pid());
  }

  @Test
  void oneTrainerAtATimeTrainsForABuild() throws Exception {
    program.java(HANGING, ASKED_FOR_MEMORY);
    Process first = program.start("serve");
    eventually(() -> Files.exists(program.home().resolve("hangs")));
    Process second = program.start("serve", "--store", "redis://h");
    awaitStart();
    eventually(() -> trainers().size() == 1);
    assertThat(program.home().resolve("asked")).hasContent("x");
    assertThat(second.isAlive()).isTrue();
    send("TERM", first.pid());
    send("TERM", second.pid());
  }

  @Test
  void aTrainerThatWaitedForAnotherCreatesNoCache() throws Exception {
    program.java(training("200000"), ASKED_FOR_MEMORY);
    Process late = program.start(Map.of("THROTTLEKIT_TRAIN_AFTER", "4"), "serve");
    awaitStart();
    var _ = serveUntil(() -> caches().size() == 1, Map.of(), "serve");
    eventually(() -> trainers().isEmpty());
    assertThat(late.isAlive()).isTrue();
    assertThat(program.home().resolve("asked")).hasContent("x");
    late.destroy();
  }

  @Test
  void filesOfAKilledTrainerAreRemovedByTheNext() throws Exception {
    program.java(HANGING);
    Process serve = program.start("serve");
    eventually(() -> Files.exists(program.home().resolve("hangs")));
    send("KILL", trainers().getFirst());
    eventually(() -> trainers().isEmpty());
    assertThat(files(".aot")).anyMatch(name -> name.startsWith("work."));
    List<Long> left = processes("AOTCacheOutput", "\n");

    program.java(training("200000"));
    var _ = serveAndTrain("serve");
    assertThat(files(".aot")).noneMatch(name -> name.startsWith("work."));
    assertThat(caches()).hasSize(1);

    assertThat(read(left, "cmdline")).anyMatch(line -> line.startsWith("timeout\0-s\0KILL\0"));
    for (long pid : left) {
      send("KILL", pid);
    }
    send("TERM", serve.pid());
  }

  @ParameterizedTest
  @CsvSource({
    "49999, exit 0, 'the training answered 49999 requests, not 50000'",
    "200000, rm \"$cache\"; exit 0, the cache could not be made",
    "200000, kill -KILL $$, the cache could not be made"
  })
  void aFailedTrainingIsRetriedAfterAnHour(String requests, String end, String failure)
      throws Exception {
    program.java(training(requests).replace("exit 0", end));
    ProgramHome.Ended served = serveAndTrain("serve");
    assertThat(served.code()).isZero();
    assertThat(served.errors()).isEmpty();
    assertThat(log())
        .endsWith("Z made no cache: " + failure + "; no start within 60 minutes tries again\n");
    assertThat(caches()).isEmpty();

    program.java(training("200000"), ASKED_FOR_MEMORY);
    failed(Duration.ofMinutes(59));
    assertThat(serveAndTrain("serve").errors()).isEmpty();
    assertThat(program.home().resolve("asked")).doesNotExist();
    assertThat(caches()).isEmpty();

    failed(Duration.ofMinutes(61));
    var _ = serveAndTrain("serve");
    assertThat(program.home().resolve("asked")).hasContent("x");
    assertThat(caches()).hasSize(1);
    assertThat(files(".aot")).noneMatch(name -> name.endsWith(".failed"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"echo 'no such store' >&2; exit 2", "echo memory; exit 1", "echo other"})
  void aServiceThatCannotStartIsNotTrained(String dryRun) throws Exception {
    program.java(training("200000"), dryRun);
    ProgramHome.Ended ended = serveAndTrain("serve", "--store", "http://x");
    assertThat(ended.errors()).isEmpty();
    assertThat(ended.out()).startsWith("run ").endsWith(" serve --store http://x\n");
    assertThat(log()).endsWith("Z no training: the service would not start as it is called\n");
    assertThat(files(".aot")).containsExactlyInAnyOrder("training.lock", "training.log");
  }

  @Test
  void noTrainingRunsIfDisabled() throws Exception {
    program.java(training("200000"), ASKED_FOR_MEMORY);
    Map<String, String> never = Map.of("THROTTLEKIT_TRAIN_AFTER", "never");
    assertThat(serveAndTrain(never, "serve").errors()).isEmpty();
    assertNotTrained();
  }

  @Test
  void anInvalidTrainingTimeIsAUsageError() throws Exception {
    ProgramHome.Ended ended = program.run(Map.of("THROTTLEKIT_TRAIN_AFTER", "1m"), "serve");
    assertThat(ended.errors())
        .isEqualTo(
            "throttlekit: THROTTLEKIT_TRAIN_AFTER is a number of seconds, or never, not 1m\n");
    assertThat(ended.code()).isEqualTo(2);
    assertThat(ended.out()).isEmpty();
  }

  @Test
  void aNewCacheReplacesThoseOfEarlierVersions() throws Exception {
    Path caches = Files.createDirectories(program.home().resolve(".aot"));
    Files.createFile(caches.resolve("293754501210924.aot"));
    Files.createFile(caches.resolve("293754501210924.failed"));
    Files.createFile(caches.resolve("memory-1.aot"));
    Files.createFile(caches.resolve("shared-1.aot"));
    program.java(training("200000"));
    var _ = serveAndTrain("serve");
    assertThat(caches()).hasSize(2).contains("shared-1.aot").doesNotContain("memory-1.aot");
    assertThat(files(".aot")).doesNotContain("293754501210924.failed");
  }

  @ParameterizedTest
  @ValueSource(strings = {"serve --print-config", "serve --help", "serve -h", "check policies"})
  void otherCommandsThanServeNeedNoTraining(String arguments) throws Exception {
    Files.delete(program.serving());
    program.java(training("200000"));
    ProgramHome.Ended ended = program.run(arguments.split(" "));
    assertThat(ended.errors()).isEmpty();
    assertThat(ended.out()).startsWith("run ").contains(arguments);
    assertThat(program.home().resolve(".aot")).doesNotExist();
  }

  /** Sets the time of the last failure. */
  private void failed(Duration ago) throws IOException {
    List<String> marks = files(".aot").stream().filter(name -> name.endsWith(".failed")).toList();
    assertThat(marks).hasSize(1);
    Files.setLastModifiedTime(
        program.home().resolve(".aot").resolve(marks.getFirst()),
        FileTime.from(Instant.now().minus(ago)));
  }

  private static List<String> openFiles(long pid) throws IOException {
    try (Stream<Path> open = Files.list(Path.of("/proc", Long.toString(pid), "fd"))) {
      return open.map(AotTrainingTest::target).toList();
    }
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException closed) {
      return "";
    }
  }
}
