package io.throttlekit.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.throttlekit.bench.command.ProgramHome;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/**
 * A copy of {@code bin/throttlekit} whose java is a shell script, the processes that it started,
 * and its AOT caches. A test that leaves a process or a temporary file fails.
 */
abstract class AotScene {
  /** A script that ends neither by itself nor on SIGTERM; once there, its files are whole. */
  static final String HANGING =
      "sleep 300 & echo $! >HOME/child; trap '' TERM; echo $$ >HOME/id; mv HOME/id HOME/hangs;"
          + " wait; wait";

  /** Records the call, and prints that the service would share its counters. */
  static final String ASKED_FOR_SHARED = "echo x >>HOME/asked; echo shared";

  static final String ASKED_FOR_MEMORY = "echo x >>HOME/asked; echo memory";

  @TempDir Path folder;
  ProgramHome program = ProgramHome.NONE;

  @BeforeEach
  void copyTheProgram() throws IOException {
    program = ProgramHome.in(folder);
    program.jar();
    Files.createFile(program.serving());
  }

  /** Ends what a failed test left, and shows that nothing outlives a service for long. */
  @AfterEach
  void assertNothingRemains() throws IOException {
    Files.deleteIfExists(program.serving());
    eventually(() -> processes("", "\n").isEmpty());
    assertThat(files(".aot")).noneMatch(name -> name.startsWith("work."));
    assertThat(program.temporary()).isEmptyDirectory();
  }

  void assertTrainingEnded() throws IOException {
    for (String file : List.of("hangs", "child")) {
      long id = Long.parseLong(Files.readString(program.home().resolve(file)).strip());
      eventually(() -> hasEnded(id));
    }
    eventually(() -> trainers().isEmpty());
    assertThat(files(".aot")).isSubsetOf("training.lock", "training.log");
  }

  void assertNotTrained() throws IOException {
    eventually(() -> trainers().isEmpty());
    assertThat(program.home().resolve("asked")).doesNotExist();
    assertThat(files(".aot")).isEmpty();
  }

  /** Returns a training that prints the service's lines, and writes a cache when it is stopped. */
  static String training(String requests) {
    return "trap 'echo cache >\"$cache\"; exit 0' TERM\n"
        + "echo 'INFO warmed up with "
        + requests
        + " requests' >&2\n"
        + "echo 'ready grpc=127.0.0.1:1'\n"
        + "while :; do sleep 0.05; done";
  }

  /** Serves until the trainer has ended, or there has been none. */
  ProgramHome.Ended serveAndTrain(String... arguments) throws Exception {
    return serveAndTrain(Map.of(), arguments);
  }

  ProgramHome.Ended serveAndTrain(Map<String, String> environment, String... arguments)
      throws Exception {
    return serveUntil(() -> trainers().isEmpty(), environment, arguments);
  }

  ProgramHome.Ended serveUntil(
      Callable<Boolean> condition, Map<String, String> environment, String... arguments)
      throws Exception {
    Process serve = program.start(environment, arguments);
    awaitStart();
    eventually(condition);
    assertThat(serve.isAlive()).isTrue();
    serve.destroy();
    return program.ended(serve);
  }

  void assertUsesCache(String kind, Map<String, String> environment, String... arguments)
      throws Exception {
    Files.delete(program.serving());
    ProgramHome.Ended ended = program.run(environment, arguments);
    assertThat(ended.out()).contains("-XX:AOTCache=" + program.home() + "/.aot/" + kind + "-");
    assertThat(ended.errors()).isEmpty();
    Files.createFile(program.serving());
  }

  /** Waits until the service runs; its trainer was started before. */
  void awaitStart() {
    eventually(() -> program.out().startsWith("run "));
  }

  static void eventually(Callable<Boolean> condition) {
    await().pollInterval(Duration.ofMillis(20)).ignoreExceptions().until(condition);
  }

  List<String> caches() throws IOException {
    return files(".aot").stream().filter(name -> name.endsWith(".aot")).toList();
  }

  /** Returns the names of the files in a folder of the home; none where there is no such folder. */
  List<String> files(String name) throws IOException {
    Path directory = program.home().resolve(name);
    if (!Files.exists(directory)) {
      return List.of();
    }
    try (Stream<Path> files = Files.list(directory)) {
      return files.map(file -> file.getFileName().toString()).toList();
    }
  }

  String log() throws IOException {
    return Files.readString(program.home().resolve(".aot/training.log"));
  }

  List<Long> trainers() throws IOException {
    return processes("/bin/throttlekit", "-jar");
  }

  /** Returns the processes from the folder whose command contains one text and not the other. */
  List<Long> processes(String with, String without) throws IOException {
    String path = folder.toRealPath().toString();
    try (Stream<Path> all = Files.list(Path.of("/proc"))) {
      return all.map(Path::getFileName)
          .map(Path::toString)
          .filter(pid -> pid.matches("\\d+"))
          .filter(pid -> {
            String command = read(pid, "cmdline");
            return command.contains(path) && command.contains(with) && !command.contains(without);
          })
          .map(Long::valueOf)
          .toList();
    }
  }

  static List<String> read(List<Long> pids, String file) {
    return pids.stream().map(pid -> read(Long.toString(pid), file)).toList();
  }

  static String read(String pid, String file) {
    try {
      return Files.readString(Path.of("/proc", pid, file));
    } catch (IOException gone) {
      return "";
    }
  }

  static void send(String signal, long pid) throws IOException, InterruptedException {
    new ProcessBuilder("kill", "-" + signal, Long.toString(pid)).start().waitFor();
  }

  /**
   * Returns whether a process has ended, including zombies, as orphans in a container may remain.
   */
  static boolean hasEnded(long pid) {
    String stat = read(Long.toString(pid), "stat");
    return stat.isEmpty() || stat.contains(") Z ");
  }
}
