package io.throttlekit.demo;

import io.throttlekit.testkit.envoy.EnvoyProgram;
import io.throttlekit.testkit.required.ExternalProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A Docker engine on this machine, Compose, and the tools to create a base image without a
 * registry.
 */
final class DockerEngine implements ExternalProgram {
  private static final int TIMEOUT_MINUTES = 20;
  private static final List<String> PLUGIN = List.of("docker", "compose");

  @Override
  public String name() {
    return "Docker engine";
  }

  @Override
  public @Nullable String whyMissing() {
    if (!succeeds(List.of("docker", "info"))) {
      return "no Docker engine answers 'docker info'";
    }
    String engine = "docker context inspect --format '{{.Endpoints.docker.Host}}' | grep -q ^unix:";
    if (!succeeds(List.of("sh", "-c", engine))) {
      return "the Docker engine is not on this machine, and would not see the files of the project";
    }
    if (!succeeds(with(compose(), "version"))) {
      return "there is neither 'docker compose' nor 'docker-compose'";
    }
    if (!succeeds(List.of("sh", "-c", "test $(id -u) = 0 && command -v debootstrap"))) {
      return "a base for the images is made by root with debootstrap";
    }
    return new EnvoyProgram().whyMissing();
  }

  /** Returns the command of Compose. */
  static List<String> compose() {
    return succeeds(with(PLUGIN, "version")) ? PLUGIN : List.of("docker-compose");
  }

  private static List<String> with(List<String> command, String argument) {
    return Stream.concat(command.stream(), Stream.of(argument)).toList();
  }

  private static boolean succeeds(List<String> command) {
    try {
      var _ = run(command);
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /** Does the same as {@link #run(List, Map)}, in the environment of this process. */
  static String run(List<String> command) throws IOException {
    return run(command, Map.of());
  }

  /**
   * Returns the output of a program, stripped.
   *
   * @param environment variables in addition to those of this process
   * @throws IOException with the output, if the program fails
   */
  static String run(List<String> command, Map<String, String> environment) throws IOException {
    Path written = Files.createTempFile("docker", ".log");
    try {
      ProcessBuilder builder =
          new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(written.toFile());
      builder.environment().putAll(environment);
      Process process = builder.start();
      boolean ended = process.waitFor(TIMEOUT_MINUTES, TimeUnit.MINUTES);
      process.destroyForcibly(); // no effect if it has ended
      String words = Files.readString(written).strip();
      if (!ended || process.exitValue() != 0) {
        throw new IOException(command + ": " + words);
      }
      return words;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      Files.delete(written);
    }
  }
}
