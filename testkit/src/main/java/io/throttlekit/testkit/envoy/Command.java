package io.throttlekit.testkit.envoy;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a program to its end and keeps its output. */
final class Command {

  /**
   * @param exit the exit code; -1 when it did not start, or not end in time
   * @param output standard output and standard error together
   */
  record Result(int exit, String output) {

    String lastLine() {
      return output.strip().lines().reduce("it says nothing", (_, line) -> line);
    }
  }

  private Command() {}

  static Result run(List<String> command, Duration timeout) {
    try {
      // A file, not a pipe: a full pipe would stop the program, and reading one could outlast it.
      Path output = Files.createTempFile("command", ".log");
      try {
        Process process =
            new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .redirectOutput(output.toFile())
                .start();
        boolean ended = await(process, timeout);
        String printed = Files.readString(output, StandardCharsets.ISO_8859_1);
        return ended
            ? new Result(process.exitValue(), printed)
            : new Result(-1, printed + "\nnot done after " + timeout.toSeconds() + " s");
      } finally {
        Files.deleteIfExists(output);
      }
    } catch (IOException e) {
      return new Result(-1, String.valueOf(e.getMessage()));
    }
  }

  private static boolean await(Process process, Duration timeout) {
    try {
      return process.waitFor(timeout.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    } finally {
      process.destroyForcibly(); // does nothing to one that has ended
    }
  }
}
