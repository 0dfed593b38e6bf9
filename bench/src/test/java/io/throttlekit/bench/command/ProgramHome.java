package io.throttlekit.bench.command;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * A copy of {@code bin/throttlekit} in a folder of its own, with a JDK of shell scripts.
 *
 * @param folder holds everything
 */
public record ProgramHome(Path folder) {
  private static final List<String> TOOLS =
      List.of("bash", "dirname", "find", "flock", "grep", "mkdir", "readlink", "rm", "touch");

  /** A build in the background ignores SIGINT, and one under nohup SIGHUP; scripts inherit that. */
  private static final List<String> SIGNALS =
      List.of("/usr/bin/env", "--default-signal=HUP,INT,TERM");

  public static final ProgramHome NONE = new ProgramHome(Path.of(""));

  /** Environment variables that could override the store of the arguments. */
  private static final List<String> UNSET =
      List.of(
          "THROTTLEKIT_JAVA_OPTIONS",
          "THROTTLEKIT_CONFIG",
          "THROTTLEKIT_STORE_URI",
          "REDIS_URL",
          "BACKEND_TYPE");

  public record Ended(int code, String out, String errors) {}

  public static ProgramHome in(Path folder) throws IOException {
    ProgramHome program = new ProgramHome(folder.toRealPath());
    for (String script : List.of("throttlekit", "lib/build.sh", "lib/aot.sh", "lib/sizing.sh")) {
      Path copy = program.home().resolve("bin").resolve(script);
      Files.createDirectories(copy.getParent());
      Files.copy(Path.of("..", "bin").resolve(script), copy);
    }
    Files.createDirectory(program.temporary());
    program.java("exit 1");
    return program;
  }

  /** Returns the home, with blanks in its name as in users' folders. */
  public Path home() {
    return folder.resolve("home of it");
  }

  /** Returns the program's folder for temporary files. */
  public Path temporary() {
    return folder.resolve("tmp");
  }

  public Path jar() throws IOException {
    Path target = Files.createDirectories(home().resolve("ratelimit-service/target"));
    Files.createDirectories(target.resolve("lib"));
    return Files.writeString(target.resolve("ratelimit-service-1.jar"), "code");
  }

  /** While this file is there, a service of the fake java runs until a signal ends it. */
  public Path serving() {
    return home().resolve("serving");
  }

  /**
   * Installs a java that trains by this script, with {@code HOME} for the home. Otherwise it prints
   * its options, and the content of the last one where that is a pipe, and serves. Its service has
   * counters in memory.
   */
  public void java(String training) throws IOException {
    java(training, "echo memory");
  }

  /** Does the same, with a script for the service's dry run. */
  public void java(String training, String dryRun) throws IOException {
    Path bin = Files.createDirectories(folder.resolve("jdk/bin"));
    Files.writeString(folder.resolve("jdk/release"), "JAVA_VERSION=\"25\"\n");
    script(bin.resolve("javac"), "");
    script(
        bin.resolve("java"),
        """
        case $* in *--dry-run*)
        """
            + inHome(dryRun)
            + """
             ; exit ;; esac
            cache=
            for option in "$@"; do
              case $option in -XX:AOTCacheOutput=*) cache=${option#*=} ;; esac
            done
            if [ -z "$cache" ]; then
              echo "run $*"
              if [ -p "${*: -1}" ]; then cat "${*: -1}"; fi
              trap 'exit 0' TERM INT
              trap 'exit 129' HUP
            """
            + inHome("while [ -e HOME/serving ]; do sleep 0.05; done; exit 0; fi\n")
            + inHome(training));
  }

  private String inHome(String script) {
    return script.replace("HOME", "'" + home() + "'");
  }

  /** Installs a fake Maven. */
  public void maven(String text) throws IOException {
    script(Files.createDirectories(folder.resolve("path")).resolve("mvn"), text);
  }

  /** Restricts the path to these few programs, without Maven. */
  public void noMaven() throws IOException {
    Path path = Files.createDirectories(folder.resolve("path"));
    Files.deleteIfExists(path.resolve("mvn"));
    for (String tool : TOOLS) {
      script(path.resolve(tool), "exec /usr/bin/" + tool + " \"$@\"");
    }
  }

  public Process start(String... arguments) throws IOException {
    return start(Map.of(), arguments);
  }

  public Process start(Map<String, String> environment, String... arguments) throws IOException {
    return start(environment, command(arguments));
  }

  /** Starts the program as a child of a process that never reaps it. */
  public Process startUnreaped(String... arguments) throws IOException {
    List<String> shell = List.of("bash", "-c", "\"$@\" & exec sleep 600", "shell");
    return start(Map.of(), Stream.of(shell, command(arguments)).flatMap(List::stream).toList());
  }

  public Ended run(String... arguments) throws IOException, InterruptedException {
    return run(Map.of(), arguments);
  }

  public Ended run(Map<String, String> environment, String... arguments)
      throws IOException, InterruptedException {
    return ended(start(environment, arguments));
  }

  /** Runs the program with one more argument, a pipe with this text. */
  public Ended runWithPipe(String written, String... arguments)
      throws IOException, InterruptedException {
    List<String> shell = List.of("bash", "-c", "exec \"$@\" <(printf %s \"$0\")", written);
    return ended(
        start(Map.of(), Stream.of(shell, command(arguments)).flatMap(List::stream).toList()));
  }

  private List<String> command(String... arguments) {
    List<String> command = new ArrayList<>();
    command.add(home().resolve("bin/throttlekit").toString());
    command.addAll(List.of(arguments));
    return command;
  }

  private Process start(Map<String, String> environment, List<String> command) throws IOException {
    ProcessBuilder builder =
        new ProcessBuilder(Stream.of(SIGNALS, command).flatMap(List::stream).toList())
            .redirectOutput(folder.resolve("out").toFile())
            .redirectError(folder.resolve("errors").toFile());
    builder.environment().keySet().removeAll(UNSET);
    builder.environment().put("THROTTLEKIT_TRAIN_AFTER", "0");
    builder.environment().putAll(environment);
    builder.environment().put("JAVA_HOME", folder.resolve("jdk").toString());
    builder.environment().put("TMPDIR", temporary().toString());
    Path path = folder.resolve("path");
    if (Files.exists(path.resolve("bash"))) {
      builder.environment().put("PATH", path.toString());
    } else {
      builder.environment().merge("PATH", path.toString(), (old, first) -> first + ":" + old);
    }
    return builder.start();
  }

  public Ended ended(Process process) throws IOException, InterruptedException {
    int code = process.waitFor();
    return new Ended(code, out(), errors());
  }

  public String out() throws IOException {
    return Files.readString(folder.resolve("out"));
  }

  public String errors() throws IOException {
    return Files.readString(folder.resolve("errors"));
  }

  private static void script(Path file, String text) throws IOException {
    Files.writeString(file, "#!/bin/bash\n" + text + "\n");
    Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rwxr-xr-x"));
  }
}
