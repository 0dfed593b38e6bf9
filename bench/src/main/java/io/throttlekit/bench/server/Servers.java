package io.throttlekit.bench.server;

import io.throttlekit.bench.command.Arguments;
import io.throttlekit.testkit.envoy.LinkedProcess;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Starts the servers that are measured.
 *
 * @param program the service's command, {@code bin/throttlekit}
 * @param folder for policies and logs
 */
public record Servers(Path program, Path folder) {
  private static final Set<String> CODE = Set.of("-cp", "-classpath", "--class-path", "-jar", "-m");
  // Parts of options that refer to files of the service, or measure it.
  private static final List<String> OF_ONE_PROGRAM =
      List.of("AOT", "SharedArchiveFile", "FlightRecording", "-Xlog");

  /** Options that {@link #from} reads. */
  public static final Set<String> OPTIONS = Set.of("folder", "service");

  /** Returns servers with these options; the folder is made when it is needed. */
  public static Servers from(Arguments arguments) {
    Path program = Path.of(arguments.text("service", "bin/throttlekit"));
    if (!Files.isExecutable(program) || Files.isDirectory(program)) {
      throw new IllegalArgumentException("--service " + program + " is not an executable file");
    }
    return new Servers(program, Path.of(arguments.text("folder", "bench/target/runs")));
  }

  /**
   * Makes the service's AOT caches for counters of these kinds, {@code memory} or {@code shared},
   * unless they are there. A start without one trains in the background, beside the measurement.
   *
   * <p>A program without that command starts without a cache, or creates it by itself.
   */
  public void makeCaches(String... kinds) throws IOException, InterruptedException {
    for (String kind : kinds) {
      ProcessBuilder command =
          new ProcessBuilder(program.toString(), "train-cache", kind)
              .redirectOutput(Redirect.DISCARD)
              .redirectError(Redirect.INHERIT);
      try (LinkedProcess training = LinkedProcess.start(command)) {
        if (training.process().waitFor() != 0) {
          System.err.println(program + " made no AOT cache for counters of the kind " + kind);
        }
      }
    }
  }

  /** Starts the service with counters in memory, on free ports, and with more settings. */
  public ServerProcess service(Map<String, String> environment) throws IOException {
    return service("service", "policies.yaml", environment);
  }

  /**
   * Starts the service with another policy.
   *
   * @param name its name in reports
   * @param policies a resource beside this class
   */
  public ServerProcess service(String name, String policies, Map<String, String> environment)
      throws IOException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(program.toString(), "serve", "--policies", copy(policies).toString()));
    command.addAll(List.of("--config", copy("service.yaml").toString()));
    command.addAll(List.of("--grpc-port", "0", "--http-port", "0", "--debug-port", "0"));
    return ServerProcess.start(name, command, environment, log(name));
  }

  /** Starts the no-op server, on a JVM with the given options. */
  public ServerProcess noOp(List<String> jvmOptions) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(NoOpServer.class.getName());
    // As bin/throttlekit sets it.
    String arenas = System.getenv().getOrDefault("MALLOC_ARENA_MAX", "2");
    return ServerProcess.start("no-op", command, Map.of("MALLOC_ARENA_MAX", arenas), log("no-op"));
  }

  /**
   * Returns the options of a running JVM that a JVM of another program can have too: no class path,
   * no archive of classes, no recording.
   */
  public static List<String> jvmOptions(List<String> arguments) {
    return arguments.stream()
        .skip(1)
        .takeWhile(argument -> argument.startsWith("-") && !CODE.contains(argument))
        .filter(argument -> OF_ONE_PROGRAM.stream().noneMatch(argument::contains))
        .toList();
  }

  private Path copy(String resource) throws IOException {
    Path file = Files.createDirectories(folder).resolve(resource);
    try (InputStream content = Servers.class.getResourceAsStream(resource)) {
      Files.copy(
          Objects.requireNonNull(content, resource), file, StandardCopyOption.REPLACE_EXISTING);
    }
    return file;
  }

  private File log(String name) throws IOException {
    return Files.createDirectories(folder).resolve(name + ".log").toFile();
  }
}
