package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;

import io.throttlekit.bench.command.ProgramHome;
import java.nio.file.Files;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests {@code bin/throttlekit train-cache}. */
@Tag("process")
class AotCommandTest extends AotScene {
  private static final String PREPARING =
      "throttlekit: preparing a faster start, which takes up to a minute\n";

  @ParameterizedTest
  @ValueSource(strings = {"memory", "shared"})
  void aCacheCanBeCreatedBeforeTheFirstStart(String kind) throws Exception {
    program.java(training("200000"), ASKED_FOR_MEMORY);
    ProgramHome.Ended made = program.run("train-cache", kind);
    assertThat(made.errors()).isEqualTo(PREPARING);
    assertThat(made.code()).isZero();
    assertThat(caches()).singleElement().asString().startsWith(kind + "-");
    ProgramHome.Ended again = program.run("train-cache", kind);
    assertThat(again.errors()).isEmpty();
    assertThat(again.code()).isZero();
    String store = kind.equals("memory") ? "memory" : "redis://h";
    assertUsesCache(kind, Map.of(), "serve", "--store", store);
    assertThat(program.home().resolve("asked")).doesNotExist();
  }

  @Test
  void aRequestedCacheIsRetriedAfterEarlierFailures() throws Exception {
    program.java(training("49999"));
    for (int attempt = 0; attempt < 2; attempt++) {
      ProgramHome.Ended ended = program.run("train-cache", "memory");
      assertThat(ended.errors())
          .isEqualTo(
              PREPARING
                  + "throttlekit: no faster start: the training answered 49999 requests, not"
                  + " 50000\n");
      assertThat(ended.code()).isEqualTo(1);
    }
    program.java(training("200000"), ASKED_FOR_MEMORY);
    var _ = serveAndTrain("serve"); // within the hour
    assertThat(program.home().resolve("asked")).doesNotExist();
    assertThat(program.run("train-cache", "memory").code()).isZero();
    assertThat(caches()).hasSize(1);
  }

  @Test
  void waitsForTheEndOfABackgroundTraining() throws Exception {
    program.java(HANGING);
    Process serve = program.start("serve");
    eventually(() -> Files.exists(program.home().resolve("hangs")));
    program.java(training("200000"));
    Process command = program.start("train-cache", "memory");
    String waiting = "throttlekit: waiting for the end of another training\n";
    eventually(() -> program.errors().equals(waiting));
    send("TERM", serve.pid());
    assertThat(program.ended(command).errors()).isEqualTo(waiting + PREPARING);
    assertThat(command.exitValue()).isZero();
    assertThat(caches()).hasSize(1);
  }

  @ParameterizedTest
  @CsvSource({"TERM, 143", "INT, 130", "HUP, 129"})
  void aSignalEndsARequestedTraining(String signal, int code) throws Exception {
    program.java(HANGING);
    Process training = program.start("train-cache", "memory");
    eventually(() -> Files.exists(program.home().resolve("hangs")));
    send(signal, training.pid());
    assertThat(training.waitFor(5, TimeUnit.MINUTES)).isTrue();
    assertThat(training.exitValue()).isEqualTo(code);
    assertTrainingEnded();
    assertThat(program.errors()).isEqualTo(PREPARING);
  }

  @ParameterizedTest
  @ValueSource(strings = {"train-cache", "train-cache disk", "train-cache memory shared"})
  void aUsageErrorOfTheTrainingIsOneLine(String arguments) throws Exception {
    ProgramHome.Ended ended = program.run(arguments.split(" "));
    assertThat(ended.errors())
        .isEqualTo("throttlekit: usage: throttlekit train-cache memory|shared\n");
    assertThat(ended.code()).isEqualTo(2);
  }
}
