package io.throttlekit.bench;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Starts the servers that are measured.
 *
 * @param program the service's command, {@code bin/throttlekit}
 * @param folder where their policies and logs are put
 */
record Servers(Path program, Path folder) {

  static Servers from(Arguments arguments) throws IOException {
    Path folder = Path.of(arguments.text("folder", "bench/target/runs"));
    return new Servers(
        Path.of(arguments.text("service", "bin/throttlekit")), Files.createDirectories(folder));
  }

  /** The service with counters in memory, on free ports, and with settings of its own. */
  ServerProcess service(Map<String, String> environment) throws IOException {
    List<String> command = new ArrayList<>();
    command.addAll(List.of(program.toString(), "serve", "--policies", policies().toString()));
    command.addAll(List.of("--grpc-port", "0", "--http-port", "0", "--debug-port", "0"));
    return ServerProcess.start("service", command, environment, log("service"));
  }

  /** The server that decides nothing, on a JVM with the given options. */
  ServerProcess noOp(List<String> jvmOptions) throws IOException {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(jvmOptions);
    command.addAll(List.of("-cp", System.getProperty("java.class.path")));
    command.add(NoOpServer.class.getName());
    return ServerProcess.start("no-op", command, Map.of(), log("no-op"));
  }

  /**
   * The options of a running JVM that a JVM for another program can have too: no class path, and no
   * archive of classes.
   */
  static List<String> jvmOptions(List<String> arguments) {
    return arguments.stream()
        .skip(1)
        .takeWhile(argument -> argument.startsWith("-"))
        .filter(argument -> argument.startsWith("-X") || argument.startsWith("--enable-native"))
        .filter(argument -> !argument.contains("AOT") && !argument.contains("SharedArchiveFile"))
        .toList();
  }

  private Path policies() throws IOException {
    Path file = folder.resolve("policies.yaml");
    try (InputStream policies = Servers.class.getResourceAsStream("policies.yaml")) {
      Files.copy(
          Objects.requireNonNull(policies, "policies.yaml"),
          file,
          StandardCopyOption.REPLACE_EXISTING);
    }
    return file;
  }

  private File log(String name) {
    return folder.resolve(name + ".log").toFile();
  }
}
