package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Tests the training before the first start of {@code bin/throttlekit}, with a shell script as
 * java.
 */
@Tag("process")
@Timeout(60)
class AotTrainingTest {
  private static final String PREPARING =
      "throttlekit: preparing a faster start, once per build, which takes up to a minute\n";

  /** A training that ends neither by itself nor on SIGTERM. */
  private static final String HANGING =
      "sleep 300 & echo $! >HOME/child; trap '' TERM; echo $$ >HOME/hangs; wait; wait";

  /** Records the call, and prints that the service would share its counters. */
  private static final String ASKED_FOR_SHARED = "echo x >>HOME/asked; echo shared";

  private static final String ASKED_FOR_MEMORY = "echo x >>HOME/asked; echo memory";

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
    program.java(HANGING);
    stopsAtOnce(signal, code);
    assertThat(program.temporary()).isEmptyDirectory();
  }

  @ParameterizedTest
  @CsvSource({"TERM, 0", "INT, 0", "HUP, 129"})
  void aStopWhileTheServiceIsAskedEndsThatToo(String signal, int code) throws Exception {
    program.java(training("200000"), HANGING);
    stopsAtOnce(signal, code);
    assertThat(program.temporary()).isEmptyDirectory();
  }

  private void stopsAtOnce(String signal, int code) throws Exception {
    Process serve = program.start("serve");
    await().until(() -> Files.exists(program.home().resolve("hangs")));

    send(signal, serve.pid());
    assertThat(serve.waitFor(20, TimeUnit.SECONDS)).isTrue();

    assertThat(serve.exitValue()).isEqualTo(code);
    for (String file : List.of("hangs", "child")) {
      long pid = Long.parseLong(Files.readString(program.home().resolve(file)).strip());
      await().atMost(Duration.ofSeconds(10)).until(() -> hasEnded(pid));
    }
    assertThat(caches()).isEmpty();
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

  @Test
  void theServiceItselfSaysForWhichCountersToPrepare() throws Exception {
    program.java(training("200000"), "echo shared");
    ProgramHome.Ended ended = program.run("serve");
    assertThat(ended.errors()).isEqualTo(PREPARING);
    assertThat(ended.out()).contains("-XX:AOTCache=" + program.home() + "/.aot/shared-");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--config FILE", "--config=FILE"})
  void aConfigurationWithARedisHasACacheOfItsOwnAndIsAskedOnce(String config) throws Exception {
    Path file = program.home().resolve("with-redis.yaml");
    Files.writeString(file, "# no memory\nstore: {uri: redis://127.0.0.1}\n");
    program.java(training("200000"));
    program.run("serve");
    program.java(training("200000"), ASKED_FOR_SHARED);
    for (int start = 0; start < 2; start++) {
      ProgramHome.Ended ended = program.run(words("serve " + config, file));
      assertThat(ended.errors()).isEqualTo(start == 0 ? PREPARING : "");
      assertThat(ended.out()).contains("-XX:AOTCache=" + program.home() + "/.aot/shared-");
    }
    assertThat(program.home().resolve("asked")).hasContent("x");
    assertThat(caches()).hasSize(2);
  }

  @ParameterizedTest
  @CsvSource({
    "memory, serve --store memory, REDIS_URL=h:1",
    "memory, serve --store=memory, THROTTLEKIT_STORE_URI=redis://h:1",
    "memory, serve --config REDIS --store memory, ''",
    "memory, serve, REDIS_URL=h:1 BACKEND_TYPE=memcache",
    "memory, serve, REDIS_URL=h:1 THROTTLEKIT_STORE_URI=memory",
    "memory, serve --config REDIS, THROTTLEKIT_STORE_URI=memory",
    "memory, serve --policies /etc/redis/p --debug-port=x:1, ''",
    "memory, serve --policies redis://h:1, ''",
    "memory, serve --config MEMORY, THROTTLEKIT_CONFIG=REDIS",
    "shared, serve, REDIS_URL=h:1",
    "shared, serve --config MEMORY, REDIS_URL=h:1",
    "shared, serve, REDIS_URL=h:1 BACKEND_TYPE=redis",
    "shared, serve, THROTTLEKIT_STORE_URI=redis-socket:///run/r",
    "shared, serve --store redis://h:1, THROTTLEKIT_STORE_URI=memory",
    "shared, serve --store=REDISS://h:1, ''",
    "shared, serve, THROTTLEKIT_CONFIG=REDIS",
    "shared, serve --config REDIS, REDIS_URL=h:1 BACKEND_TYPE=memcache",
  })
  void whatSaysWhereCountersAreIsHeardInTheOrderOfTheServiceAndAskedOnce(
      String kind, String arguments, String variables) throws Exception {
    Path redis = Files.writeString(folder.resolve("r.yaml"), "store: {uri: redis://h}\n");
    Path memory = Files.writeString(folder.resolve("m.yaml"), "store: {uri: memory}\n");
    Map<String, String> environment = new HashMap<>();
    for (String variable : words(variables, redis)) {
      String[] parts = variable.split("=", 2);
      if (parts.length == 2) {
        environment.put(parts[0], parts[1]);
      }
    }
    program.java(training("200000"), kind.equals("memory") ? ASKED_FOR_MEMORY : ASKED_FOR_SHARED);
    for (int start = 0; start < 2; start++) {
      ProgramHome.Ended ended =
          program.run(environment, words(arguments.replace("MEMORY", memory.toString()), redis));
      assertThat(ended.out()).contains("-XX:AOTCache=" + program.home() + "/.aot/" + kind + "-");
    }
    assertThat(program.home().resolve("asked")).hasContent("x");
  }

  @ParameterizedTest
  @ValueSource(strings = {"--config", "--policies"})
  void whatCanBeReadOnlyOnceIsLeftToTheService(String option) throws Exception {
    program.java(
        training("200000"), "cat \"${*: -2:1}\" >/dev/null; echo x >HOME/asked; echo memory");
    ProgramHome.Ended ended = program.runWithPipe("store: {uri: redis://h}", "serve", option);
    assertThat(ended.errors()).isEmpty();
    assertThat(ended.out()).startsWith("run ").endsWith("\nstore: {uri: redis://h}");
    assertThat(ended.out()).doesNotContain("AOTCache");
    assertThat(program.home().resolve("asked")).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({"--config, ''", "--policies=p, /dev/null"})
  void aConfigurationThatIsNoRegularFileIsLeftToTheService(String argument, String variable)
      throws Exception {
    program.java(training("200000"), ASKED_FOR_MEMORY);
    ProgramHome.Ended ended =
        program.run(Map.of("THROTTLEKIT_CONFIG", variable), "serve", argument, folder.toString());
    assertThat(ended.errors()).isEmpty();
    assertThat(ended.out()).startsWith("run ").doesNotContain("AOTCache");
    assertThat(program.home().resolve("asked")).doesNotExist();
  }

  @Test
  void whereACacheIsThatSeemsToFitNobodyIsAsked() throws Exception {
    program.java(training("200000"));
    program.run("serve");
    program.java("exit 1", ASKED_FOR_MEMORY);
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

  /** Returns a training that prints the service's lines, and writes a cache when it is stopped. */
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

  /**
   * Returns whether a process has ended, including zombies, as orphans in a container may remain.
   */
  private static boolean hasEnded(long pid) throws IOException {
    Path state = Path.of("/proc", Long.toString(pid), "stat");
    try {
      return Files.readString(state).contains(") Z ");
    } catch (IOException gone) {
      return true;
    }
  }

  /** Returns the words, with this file for {@code FILE} and {@code REDIS}. */
  private static String[] words(String text, Path file) {
    return Arrays.stream(text.split(" "))
        .map(word -> word.replaceFirst("(?<![A-Z])(FILE|REDIS)(?![A-Z_])", file.toString()))
        .toArray(String[]::new);
  }
}
