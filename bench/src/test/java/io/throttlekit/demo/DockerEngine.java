package io.throttlekit.demo;

import io.throttlekit.required.ExternalProgram;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A Docker engine, and what makes a base for images where no registry of them is reached. */
final class DockerEngine implements ExternalProgram {
  private static final int PATIENCE_MINUTES = 15;

  @Override
  public String name() {
    return "Docker engine";
  }

  @Override
  public @Nullable String whyMissing() {
    if (!succeeds("docker", "info")) {
      return "no Docker engine answers 'docker info'";
    }
    return succeeds("sh", "-c", "test $(id -u) = 0 && command -v debootstrap")
        ? null
        : "a base for the image is made by root with debootstrap";
  }

  private static boolean succeeds(String... command) {
    try {
      run(List.of(command));
      return true;
    } catch (IOException e) {
      return false;
    }
  }

  /**
   * What a program says, without blanks around it.
   *
   * @throws IOException with that, when it fails
   */
  static String run(List<String> command) throws IOException {
    Path said = Files.createTempFile("docker", ".log");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(said.toFile())
              .start();
      boolean ended = process.waitFor(PATIENCE_MINUTES, TimeUnit.MINUTES);
      process.destroyForcibly(); // does nothing to one that has ended
      String words = Files.readString(said).strip();
      if (!ended || process.exitValue() != 0) {
        throw new IOException(command + ": " + words);
      }
      return words;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted", e);
    } finally {
      Files.delete(said);
    }
  }
}
